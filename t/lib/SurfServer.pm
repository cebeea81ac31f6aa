# Throw-away servers for torture tests and scenarios.
#
# A server lives in a directory of its own, listens on a socket there, and is killed at
# the latest when its object goes away.  Unlike PostgreSQL::Test::Cluster this one
# needs nothing but a server's bin directory, tells the pids of single processes, and counts it as normal that they die.
package SurfServer;

use strict;
use warnings;
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use POSIX ();
use SurfEnding;
use SurfSession;
use Time::HiRes qw(sleep time);

my @alive;

# So that END is reached and no server is left behind.
$SIG{INT} = $SIG{TERM} = sub { exit 130 };

# The bin directory: that of $PG_CONFIG, else of the pg_config in the path.
sub bindir
{
	my $config = $ENV{PG_CONFIG} || 'pg_config';
	my $dir = `$config --bindir`;

	chomp $dir;
	die "no pg_config: set PG_CONFIG\n" if $dir eq '';
	return $dir;
}

# The major version of the server's programs.
sub major
{
	my ($self) = @_;

	$self->{major} //= `$self->{bin}/postgres --version` =~ /(\d+)/ && $1;
	return $self->{major} || die "no version of $self->{bin}/postgres\n";
}

# conf => [lines], name, base (directory to work in), primary => server to stand by for
sub new
{
	my ($class, %opt) = @_;
	my $base = $opt{base} || tempdir('surfidx.XXXXXX', TMPDIR => 1, CLEANUP => 1);
	my $self = bless {
		name => $opt{name} || 'main',
		base => $base,
		bin => $opt{bin} || bindir(),
		port => 20000 + $$ % 10000 + @alive,
		owner => $$,
		running => 0
	}, $class;

	die "PostgreSQL does not run as root; use another user\n" if $> == 0;
	$self->{data} = "$base/$self->{name}";
	$self->{log} = "$base/$self->{name}.log";
	push @alive, $self;
	if ($opt{primary})
	{
		$self->base_backup($opt{primary});
	}
	else
	{
		$self->command('initdb', '-D', $self->{data}, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale',
			'--no-sync');
	}
	$self->configure(
		"shared_preload_libraries = 'surfidx'",
		"listen_addresses = ''",
		"unix_socket_directories = '$base'",
		"port = $self->{port}",
		"fsync = off",
		"restart_after_crash = off",
		"lc_messages = 'C'",
		"log_line_prefix = '%m [%p] %a '",
		@{ $opt{conf} || [] });
	return $self;
}

sub base_backup
{
	my ($self, $primary) = @_;

	$self->command('pg_basebackup', '-h', $primary->{base}, '-p', $primary->{port}, '-U', 'postgres', '-D',
		$self->{data}, '-c', 'fast', '-X', 'stream', '-R', '--no-sync');
}

sub configure
{
	my ($self, @lines) = @_;

	open(my $f, '>>', "$self->{data}/postgresql.conf") or die "postgresql.conf: $!\n";
	print $f map { "$_\n" } @lines;
	close $f;
}

# Run a program of the server's; its output is shown if it fails.
sub command
{
	my ($self, $program, @args) = @_;
	my $out = "$self->{base}/command.out";
	# kilobytes that a file may have, in the server started
	my @limit = $program eq 'pg_ctl' && $self->{file_limit} ? ('bash', '-c', "ulimit -f $self->{file_limit}; exec \"\$@\"", 'bash') : ();
	my $pid = fork();

	if ($pid == 0)
	{
		@SIG{ 'INT', 'TERM' } = ('DEFAULT', 'DEFAULT');
		open(STDOUT, '>', $out);
		open(STDERR, '>&', \*STDOUT);
		open(STDIN, '<', '/dev/null');
		exec(@limit, "$self->{bin}/$program", @args) or POSIX::_exit(127);
	}
	waitpid($pid, 0);
	return if $? == 0;
	open(my $f, '<', $out);
	local $/;
	die "$program failed: " . (<$f> // '') . "\n";
}

sub start
{
	my ($self) = @_;

	unlink "$self->{data}/postmaster.pid" unless $self->postmaster_alive;
	# pg_ctl would leave the postmaster's output in a pipe; -l keeps it away
	$self->command('pg_ctl', '-D', $self->{data}, '-l', $self->{log}, '-w', '-t', '120', 'start');
	$self->{running} = 1;
}

sub stop
{
	my ($self, $mode) = @_;

	return unless $self->{running};
	$self->{running} = 0;
	return unless $self->postmaster_alive;
	eval { $self->command('pg_ctl', '-D', $self->{data}, '-m', $mode || 'fast', '-w', '-t', '60', 'stop') };
	$self->command('pg_ctl', '-D', $self->{data}, '-m', 'immediate', '-w', 'stop') if $@ && $self->postmaster_alive;
}

# Where redo will begin, as a number.
sub redo_location
{
	my ($self) = @_;
	my $control = `LC_ALL=C $self->{bin}/pg_controldata -D $self->{data}`;

	die "pg_controldata says nothing of REDO\n" unless $control =~ m{REDO location: +([0-9A-F]+)/([0-9A-F]+)};
	return (hex($1) << 32) + hex($2);
}

# Tear that share of the surfidx pages that were written since the last checkpoint: a half of each becomes garbage, as after a power
# failure in the middle of a write.  The server is down, full_page_writes was on: redo has to bring them back.  The number of pages torn.
sub tear
{
	my ($self, $share) = @_;
	my $redo = $self->redo_location;
	my $n = 0;

	for my $file (glob("$self->{data}/base/*/*"), glob("$self->{data}/pg_tblspc/*/*/*/*"))
	{
		open(my $f, '+<:raw', $file) or next;
		for (my $at = 0; sysseek($f, $at, 0) && (sysread($f, my $page, 8192) // 0) == 8192; $at += 8192)
		{
			my ($hi, $lo) = unpack('LL', $page);

			# the tail of every page of ours ends in this number
			next if substr($page, -2) ne pack('S', 0xFF5F) || ($hi << 32) + $lo <= $redo || rand() >= $share;
			sysseek($f, $at + (rand() < 0.5 ? 0 : 4096), 0);
			syswrite($f, pack('S', int(rand(65536))) x 2048);
			$n++;
		}
		close $f;
	}
	return $n;
}

sub postmaster_pid
{
	my ($self) = @_;

	open(my $f, '<', "$self->{data}/postmaster.pid") or return undef;
	my $pid = <$f>;
	close $f;
	return undef unless defined $pid && $pid =~ /^(\d+)/;
	return $1;
}

sub postmaster_alive
{
	my ($self) = @_;
	my $pid = $self->postmaster_pid;

	return defined $pid && kill(0, $pid);
}

# pid => title of the postmaster's children
sub children
{
	my ($self) = @_;
	my $postmaster = $self->postmaster_pid or return {};
	my %found;

	for my $dir (glob('/proc/[0-9]*'))
	{
		my ($pid) = $dir =~ /(\d+)$/;

		open(my $f, '<', "$dir/stat") or next;
		my $stat = <$f> // '';
		close $f;
		next unless $stat =~ /^\d+ \(.*\) \S (\d+) / && $1 == $postmaster;
		open($f, '<', "$dir/cmdline") or next;
		my $title = <$f> // '';
		close $f;
		$title =~ tr/\0/ /;
		$found{$pid} = $title;
	}
	return \%found;
}

# The pids of all processes of the server, the postmaster's orphans among them: they work in its data directory.
sub processes
{
	my ($self) = @_;
	my $data = readlink($self->{data}) // $self->{data};

	return map { m{^/proc/(\d+)/} && (readlink($_) // '') eq $data ? $1 : () } glob('/proc/[0-9]*/cwd');
}

# Kill them all, also those that are started meanwhile: a start would find their shared memory in use.  Nor would it
# believe that a postmaster is gone whose parent has not yet asked for its status.
sub kill_all
{
	my ($self) = @_;
	my $end = time + 60;

	$self->{running} = 0;
	while (1)
	{
		my @left = $self->processes;

		last if !@left && !$self->postmaster_alive;
		kill 'KILL', @left;
		die "processes @left of a killed server stay\n" if time > $end;
		sleep 0.01;
	}
}

# One statement in a session of its own, whatever comes of it.
sub query_once
{
	my ($self, $sql) = @_;
	my $s = $self->session;
	my $r = $s->query($sql, 10);

	$s->end;
	return $r;
}

# Wait until no process of the server is left; after a crash of one the postmaster ends by itself.
sub wait_gone
{
	my ($self, $seconds) = @_;
	my $end = time + ($seconds || 60);
	my $pid = $self->postmaster_pid;

	while ($pid && kill(0, $pid))
	{
		# a child of ours would be a zombie
		waitpid($pid, POSIX::WNOHANG());
		return 0 if time > $end;
		sleep 0.02;
	}
	# orphans of a killed postmaster notice within a moment; a start before that would fail on shared memory
	$self->{running} = 0;
	return 1;
}

sub session
{
	my ($self, %opt) = @_;

	return SurfSession->new(server => $self, %opt);
}

# What the log says about crashes; empty: nothing.  "killed" (signal 9) is what torture does itself.
sub crashes
{
	my ($self) = @_;

	open(my $f, '<', $self->{log}) or return ();
	my @found = grep { /TRAP:|PANIC:|was terminated by signal (?!9:)|FATAL:.*inconsistent page/ } <$f>;
	close $f;
	return @found;
}

sub DESTROY
{
	my ($self) = @_;
	local ($?, $@);

	eval { $self->stop('immediate') } if $self->{owner} == $$;
}

END
{
	my $status = $?;
	for my $s (@alive)
	{
		eval { $s->stop('immediate') } if $s && $s->{owner} == $$;
	}
	$? = $status;
}

SurfEnding::wrap('SurfServer');

1;
