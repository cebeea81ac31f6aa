# One psql kept running: statements go in, rows come back, errors are told apart.
#
# server => anything with base (the socket's directory), port and bin; db; name (application_name); user;
# null (how NULL is printed)
package SurfSession;

use strict;
use warnings;
use Errno;
use IO::Handle;
use IPC::Open3;
use Time::HiRes qw(time);

use constant PIPE_ROOM => 4000;

my $serial = 0;

sub new
{
	my ($class, %opt) = @_;
	my $server = $opt{server};
	my $self = bless { dead => 0, pending => [], buffer => '', base => $server->{base}, db => $opt{db} || 'postgres' }, $class;
	my ($in, $out);
	local %ENV = %ENV;

	delete @ENV{ grep { /^PG/ && $_ ne 'PG_CONFIG' } keys %ENV };
	$ENV{PGOPTIONS} = '-c client_min_messages=error';
	$ENV{PGAPPNAME} = $opt{name} || 'torture';
	$self->{pid} = open3($in, $out, undef, "$server->{bin}/psql", '-X', '-q', '-A', '-t', '-F', '|', '-h',
		$server->{base}, '-p', $server->{port}, '-U', $opt{user} // 'postgres', '-d', $self->{db},
		'-v', 'VERBOSITY=sqlstate', '-P', 'null=' . ($opt{null} // '~'), '-f', '-');
	$self->{in} = $in;
	$self->{out} = $out;
	$in->blocking(0);
	return $self;
}

# Send without waiting.
sub send
{
	my ($self, $sql) = @_;
	my $mark = '#=#' . ++$serial;
	local $SIG{PIPE} = 'IGNORE';

	push @{ $self->{pending} }, $mark;
	# what is more than a pipe holds would have to wait until psql has done with the statements before, and those may wait for us
	$sql = '\i ' . ($self->{files}{$mark} = $self->write_file($sql)) if length $sql > PIPE_ROOM;
	# an unterminated statement must not swallow the mark
	$self->write_all("$sql\n;\n\\echo $mark :ROW_COUNT\n");
	return $mark;
}

sub write_file
{
	my ($self, $text) = @_;
	my $name = "$self->{base}/statement.$$." . ++$serial;

	open(my $f, '>', $name) or die "$name: $!\n";
	print $f "$text\n;\n";
	close $f;
	return $name;
}

# psql stops reading while nobody reads what it writes: do both at once.
sub write_all
{
	my ($self, $text) = @_;

	while (length $text && !$self->{dead})
	{
		my ($r, $w) = ('', '');

		vec($r, fileno($self->{out}), 1) = 1;
		vec($w, fileno($self->{in}), 1) = 1;
		next if select($r, $w, undef, undef) < 0;
		if (vec($w, fileno($self->{in}), 1))
		{
			my $n = syswrite($self->{in}, $text);

			if (defined $n)
			{
				substr($text, 0, $n, '');
			}
			elsif (!$!{EAGAIN} && !$!{EINTR})
			{
				$self->{dead} = 1;
			}
		}
		if (vec($r, fileno($self->{out}), 1))
		{
			my $n = sysread($self->{out}, $self->{buffer}, 65536, length $self->{buffer});

			# at its end there is nothing to write any more
			$self->{dead} = 1 if defined $n ? $n == 0 : !$!{EINTR};
		}
	}
}

# The answer to the oldest statement sent: { rows => [lines], error => SQLSTATE or '', lost => 1 }.
sub receive
{
	my ($self, $timeout) = @_;
	my $mark = shift @{ $self->{pending} };
	my $file = delete $self->{files}{$mark};
	my %r = (rows => [], error => '', lost => 0, count => 0);
	my $end = defined $timeout ? time + $timeout : undef;

	while (defined(my $line = $self->line($end)))
	{
		if ($line =~ /^\Q$mark\E (\d*)/)
		{
			$r{count} = $1;
			unlink $file if $file;
			return \%r;
		}
		if ($line =~ /^(?:psql:.*?)?(?:ERROR|FATAL|PANIC):  ?(\w{5})/)
		{
			$r{error} = $1;
		}
		elsif ($line =~ /^psql:.*(?:server closed|connection to server|no connection|terminat|SSL SYSCALL|could not)/)
		{
			$r{lost} = 1;
		}
		else
		{
			push @{ $r{rows} }, $line;
		}
	}
	$r{lost} = 1;
	$self->{dead} = 1;
	return \%r;
}

sub line
{
	my ($self, $end) = @_;

	for (;;)
	{
		my $at = index($self->{buffer}, "\n");

		return substr($self->{buffer}, 0, $at + 1, '') =~ s/\n//r if $at >= 0;
		if (defined $end)
		{
			my $bits = '';
			my $left = $end - time;
			my $ready;

			vec($bits, fileno($self->{out}), 1) = 1;
			return undef if $left <= 0;
			$ready = select($bits, undef, undef, $left);
			# a signal is no end of the session
			next if $ready < 0 && $!{EINTR};
			return undef if $ready <= 0;
		}
		my $n = sysread($self->{out}, $self->{buffer}, 65536, length $self->{buffer});
		next if !defined $n && $!{EINTR};
		return undef unless $n;
	}
}

sub query
{
	my ($self, $sql, $timeout) = @_;

	$self->send($sql);
	return $self->receive($timeout);
}

# The first value of the answer, or death.
sub value
{
	my ($self, $sql) = @_;
	my $r = $self->query($sql);

	die "$sql: " . ($r->{lost} ? 'connection lost' : $r->{error}) . "\n" if $r->{lost} || $r->{error};
	return $r->{rows}[0];
}

sub end
{
	my ($self) = @_;
	local $SIG{PIPE} = 'IGNORE';
	local $?;

	return unless $self->{pid};
	# psql would wait for an answer that does not come
	kill 'TERM', $self->{pid} if $self->{dead};
	close $self->{in};
	close $self->{out};
	waitpid($self->{pid}, 0);
	$self->{pid} = undef;
}

sub DESTROY { $_[0]->end }

1;
