# How every test ends: each surfidx index of each database of each server that was started is
# checked, heapallindexed and rowsmatch, before a server stops in order and when the test is done;
# one that is down by then is started once more.  No test has to call this: each that uses
# SurfidxTest or SurfServer has it, as one more test before done_testing.
#
# A test that damages a server's indexes on purpose, and leaves them so, says why:
# SurfEnding::excuse($server, 'reason').
package SurfEnding;

use strict;
use warnings;
use Scalar::Util qw(weaken);
use Test::Builder;

# An index that somebody else still locks is a failure, not a wait for ever.
my $settings = "SET client_min_messages = error; SET statement_timeout = '300s';
	SET lock_timeout = '60s'";
our $off;						# t/stops has an ending for each scenario
my (@servers, %found);

sub excuse
{
	my ($server, $reason) = @_;

	$server->{ending_excused} = $reason;
	return;
}

# It was started: it has to be looked at before the test is over.
sub attend
{
	my ($server) = @_;

	# servers of the long torture, outside of tests, are its own business
	return unless $INC{'Test/More.pm'};
	if (!grep { $_ && $_ == $server } @servers)
	{
		push @servers, $server;
		weaken($servers[-1]);
	}
	$server->{ending_due} = 1;
	return;
}

# It is about to stop, in order.  One that does not answer (it was killed, and somebody cleans up)
# stays due.
sub leave
{
	my ($server) = @_;

	return if $off || $server->{ending_excused} || !$server->{ending_due} || !is_up($server)
		|| ask($server, 'postgres', 'SELECT 1') ne '1';
	look($server);
	return;
}

# The last look at a server counts: in between indexes may be damaged on purpose, and mended.
sub look
{
	my ($server) = @_;

	$found{$server} = [ problems($server) ];
	$server->{ending_due} = 0;
	return;
}

sub is_node { return $_[0]->isa('PostgreSQL::Test::Cluster') }

sub name_of { return is_node($_[0]) ? $_[0]->name : $_[0]->{name} }

sub is_up
{
	my ($server) = @_;

	return $server->postmaster_alive unless is_node($server);
	return defined $server->{_pid} && kill(0, $server->{_pid});
}

# What psql prints, its errors, too.
sub ask
{
	my ($server, $database, $sql) = @_;

	if (is_node($server))
	{
		my ($out, $err) = ('', '');
		my $rc = $server->psql($database, $sql, stdout => \$out, stderr => \$err);

		return $rc == 0 ? $out : "$err\n";
	}
	local %ENV = %ENV;
	delete @ENV{ grep { /^PG/ } keys %ENV };
	open(my $f, '-|', 'sh', '-c', 'exec "$@" 2>&1 </dev/null', 'sh', "$server->{bin}/psql",
		qw(-X -q -A -t -v ON_ERROR_STOP=1 -h),
		$server->{base}, '-p', $server->{port}, '-U', 'postgres', '-d', $database, '-c', $settings,
			'-c', $sql)
	  or die "psql: $!\n";
	local $/;
	my $answer = <$f> // '';
	close $f;
	return $answer =~ s/\n\z//r;
}

# A line for each index that is not as it should be.
sub problems
{
	my ($server) = @_;
	my $databases = "SELECT string_agg(datname, chr(10)) FROM pg_database WHERE datallowconn
		AND datname <> 'template0'";
	my $schema = "SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n
		ON n.oid = extnamespace WHERE extname = 'surfidx'";
	my @problems;

	for my $database (split /\n/, ask($server, 'postgres', $databases))
	{
		my $nsp = ask($server, $database, $schema);
		my $answer = $nsp eq '' ? '' : $nsp =~ /\n| /  ? $nsp :
		  ask($server, $database, (is_node($server) ? "$settings; " : '')
			. "SELECT indexrelid::regclass || ': ' || problem FROM $nsp.surfidx_check_all(true, true)
			WHERE problem IS NOT NULL");

		push @problems, map { name_of($server) . ", $database: $_" } grep { /\S/ } split /\n/,
			$answer;
	}
	return @problems;
}

# Those that were not looked at since they were started last.  All are stopped after the last look:
# a standby keeps for ever the locks of a primary that stopped at once.
sub finish
{
	my @due = grep { $_ && $_->{ending_due} && !$_->{ending_excused} } @servers;

	for my $server (@due)
	{
		if (!is_up($server))
		{
			next if !-d (is_node($server) ? $server->data_dir : $server->{data});
			$server->{_pid} = undef if is_node($server);
			if (!eval { is_node($server) ? $server->start(fail_ok => 1) : $server->start || 1 })
			{
				$found{$server} = [ name_of($server) . ' does not start' ];
				next;
			}
		}
		look($server);
	}
	for my $server (grep { is_up($_) } @due)
	{
		eval { $server->stop('immediate'); 1 } or push @{ $found{$server} }, name_of($server)
			. " does not stop: $@";
	}
	return map { @$_ } values %found;
}

# Once for all: classes of servers are wrapped when they are there, and the end of the test.
my %wrapped;

sub wrap
{
	my ($class) = @_;
	no strict 'refs';
	no warnings 'redefine';

	return if $wrapped{$class}++;
	my ($start, $stop) = (\&{"${class}::start"}, \&{"${class}::stop"});
	*{"${class}::start"} = sub { attend($_[0]); goto &$start };
	*{"${class}::stop"} = sub { leave($_[0]) if ($_[1] // 'fast') ne 'immediate'; goto &$stop };
	return;
}

{
	no warnings 'redefine';
	my $done = \&Test::Builder::done_testing;

	*Test::Builder::done_testing = sub {
		my ($builder) = @_;

		if (!$off && @servers && !$builder->parent)
		{
			my @left = finish();

			$builder->ok(!@left, 'the ending: all surfidx indexes are sound and have each row');
			$builder->diag(join("\n", @left)) if @left;
			$builder->note(name_of($_) . " is not looked at: $_->{ending_excused}") for grep { $_
				&& $_->{ending_excused} } @servers;
		}
		goto &$done;
	};
}

1;
