# Scenarios for the test build: a process that reaches a stop point waits, fails or takes the server down (src/base/stop.h).
#
#	scenario 'name', [mutants], sub { ... };		the mutants are rules whose breaking must make it fail; "a,b" breaks both
#	run_scenarios();								at the file's end; damages => 1: indexes stay damaged, on purpose
#
# SURFIDX_LIST=1: print "mutant<tab>scenario" and run nothing.  SURFIDX_MUTANT=rule: break it, and run the scenarios that name it.
# SURFIDX_SCENARIO=name: only that one.  The server is at $server, one session for control is in $control.
package SurfStops;

use strict;
use warnings;
use Exporter 'import';
use SurfServer;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(scenario run_scenarios server set_control control sql error_of start finish arm release wait_at
  come_by wait_blocked session build functions patience restart settle);
our @EXPORT_OK = qw(sound first_rows);

my (@scenarios, $server, $control, @sessions, $damages);

# each scenario has its own ending
$SurfEnding::off = 1;

# Seconds for what must come to pass; what must not come to pass is given a moment only.
sub patience { return $ENV{SURFIDX_MUTANT} ? 15 : 60 }

# Stop in that mode, which may be "gone" (it stops by itself), do something, start.
sub restart
{
	my ($mode, $meanwhile) = @_;

	$control->end if $control;
	$control = undef;
	$mode eq 'gone' ? $server->wait_gone(60) : $server->stop($mode);
	$meanwhile->() if $meanwhile;
	$server->start;
	return;
}

sub scenario
{
	my ($name, $mutants, $code) = @_;

	push @scenarios, { name => $name, mutants => $mutants, code => $code };
	return;
}

sub server { return $server }

sub set_control
{
	($server, $control) = @_;
	return;
}

sub control
{
	$control = session() if !$control || $control->{dead};
	return $control;
}

sub session
{
	my ($on) = @_;
	my $s = ($on || $server)->session;

	$s->{backend} = $s->query('SELECT pg_backend_pid()', patience())->{rows}[0];
	push @sessions, $s;
	return $s;
}

# The rows' first lines joined by commas; dies on an error.
sub sql
{
	my ($text, $s) = @_;
	my $r = ($s || control())->query($text, patience());

	die "$text: " . ($r->{lost} ? 'no answer' : $r->{error}) . "\n" if $r->{lost} || $r->{error};
	return join(',', @{ $r->{rows} });
}

# The SQLSTATE, '' if there is none, 'lost' for a server that went down.
sub error_of
{
	my ($text, $s) = @_;
	my $r = ($s || control())->query($text, patience());

	return $r->{lost} ? 'lost' : $r->{error};
}

# Send to a session of its own, and get the answer later.
sub start
{
	my ($text, $s) = @_;

	$s ||= session();
	$s->send($text);
	return $s;
}

sub finish
{
	my ($s) = @_;
	my $r = $s->receive(patience());

	return $r->{lost} ? 'lost' : $r->{error} ? "error $r->{error}" : join(',', @{ $r->{rows} });
}

sub functions
{
	my ($on) = @_;

	$on->query(<<'END', patience());
CREATE FUNCTION stop_set(point text, action text, skip int) RETURNS void AS '$libdir/surfidx', 'surfidx_stop_set' LANGUAGE C STRICT;
CREATE FUNCTION stop_release(point text) RETURNS void AS '$libdir/surfidx', 'surfidx_stop_release' LANGUAGE C STRICT;
CREATE FUNCTION stop_oid(next oid) RETURNS void
	AS '$libdir/surfidx', 'surfidx_stop_oid' LANGUAGE C STRICT;
CREATE FUNCTION stop_waiting(point text) RETURNS int AS '$libdir/surfidx', 'surfidx_stop_waiting' LANGUAGE C STRICT;
END
	return;
}

my %armed;

sub arm
{
	my ($point, $action, $skip, $s) = @_;

	sql("SELECT stop_set('$point', '$action', " . ($skip || 0) . ')', $s);
	$armed{$point} = 1;
	return;
}

sub release
{
	my ($point, $s) = @_;

	sql("SELECT stop_release('$point')", $s);
	return;
}

# The index passes its check, with the table's rows and all bytes.
sub sound
{
	my ($index, $what) = @_;

	is(eval { sql("SELECT surfidx_check('$index', true, true)") } // $@, '', $what || 'check');
	return;
}

# The first n rows of t as the session sees them; where: a condition with its WHERE.
sub first_rows
{
	my ($n, $s, $where) = @_;

	return sql('SELECT k FROM t ' . ($where // '') . " ORDER BY k LIMIT $n", $s);
}

# Until somebody waits at the point.
sub wait_at
{
	my ($point, $s) = @_;
	my $end = time + patience();

	until (sql("SELECT stop_waiting('$point')", $s) > 0)
	{
		die "nobody comes to \"$point\"\n" if time > $end;
		sleep 0.01;
	}
	return;
}

# Until the session waits at the point; false if it has an answer instead.
sub come_by
{
	my ($point, $s) = @_;

	for (;;)
	{
		my $bits = '';

		return 1 if sql("SELECT stop_waiting('$point')") > 0;
		vec($bits, fileno($s->{out}), 1) = 1;
		return 0 if length $s->{buffer} || select($bits, undef, undef, 0.005) > 0;
	}
}

# Until the session, which was sent a statement, waits for a lock or a pin; false if it has an answer instead.
sub wait_blocked
{
	my ($s) = @_;
	my $end = time + patience();

	while (time < $end)
	{
		my $bits = '';

		vec($bits, fileno($s->{out}), 1) = 1;
		return 0 if length $s->{buffer} || select($bits, undef, undef, 0.005) > 0;
		return 1 if sql("SELECT count(*) FROM pg_stat_activity WHERE pid = $s->{backend} AND state = 'active' AND wait_event_type IN ('Lock', 'BufferPin', 'Buffer', 'LWLock')") > 0;
	}
	die "neither blocked nor done\n";
}

# A moment for what must not happen.
sub settle
{
	sleep($_[0] || 0.15);
	return;
}

# Table t (k int, with a column of text of that length), with that index on it.
sub build
{
	my ($rows, $index, $length) = @_;

	$length ||= 10;
	sql("DROP TABLE IF EXISTS t; CREATE TABLE t (k int, s text COLLATE \"C\", n numeric) WITH (autovacuum_enabled = off); $index;
		INSERT INTO t SELECT g, repeat(md5(g::text), 1 + $length / 32), g FROM generate_series(1, $rows) g");
	return;
}

# The scenario has died.  Nobody is to meet a stop that it has left.
sub fail_scenario
{
	my ($sc, $why) = @_;

	fail("$sc->{name}: $why" =~ s/\n/ /gr);
	for my $point (keys %armed)
	{
		eval { release($point) };
	}
	return;
}

sub run_one
{
	my ($sc) = @_;

	eval {
		$server->start unless $server->postmaster_alive;
		$sc->{code}->();
		1;
	} or fail_scenario($sc, $@);
	# a fresh start for the next one, whatever this one left behind
	$_->end for grep { $_->{dead} } @sessions;
	my $left = grep { @{ $_->{pending} } } @sessions;
	@sessions = grep { !$_->{dead} } @sessions;
	if ($left || !$server->postmaster_alive)
	{
		$server->stop('immediate');
		$_->end for @sessions;
		$control = undef;
	}
	else
	{
		$_->end for grep { $_ != ($control || 0) } @sessions;
	}
	@sessions = grep { $control && $_ == $control } @sessions;
	ending($sc) unless $damages || $ENV{SURFIDX_MUTANT} || !$server->postmaster_alive;
	return;
}

# The scenario's own ending: what it leaves behind is sound, in every index.
sub ending
{
	my ($sc) = @_;
	my $problems = eval {
		sql('ROLLBACK');
		sql("SET statement_timeout = '50s'; SELECT indexrelid::regclass || ': ' || problem
			FROM surfidx_check_all(true, true) WHERE problem IS NOT NULL; RESET statement_timeout")
	} // $@;

	is($problems, '', "$sc->{name}: the ending");
	return;
}

sub run_scenarios
{
	my (%opt) = @_;
	my $mutant = $ENV{SURFIDX_MUTANT};
	my $only = $ENV{SURFIDX_SCENARIO};

	$damages = $opt{damages};

	if ($ENV{SURFIDX_LIST})
	{
		for my $sc (@scenarios)
		{
			print "$_\t$sc->{name}\n" for @{ $sc->{mutants} };
		}
		exit 0;
	}
	# (row estimates come by stop points while a statement is planned, before it has its snapshot;
	# counts by block pass by those of scans)
	$server = SurfServer->new(
		name => 'stops',
		conf => [
			'autovacuum = off',
			'surfidx.auto_merge = off',
			'surfidx.range_estimates = off',
			'surfidx.aggregates = off',
			'max_wal_size = 4GB',
			"surfidx.mutants = '" . ($mutant // '') . "'",
			@{ $opt{conf} || [] }
		]);
	$server->start;
	sql('CREATE EXTENSION surfidx');
	functions(control());
	for my $sc (@scenarios)
	{
		next if (defined $only && $sc->{name} ne $only) || (defined $mutant && !grep { $_ eq $mutant } @{ $sc->{mutants} });
		my $t0 = time;

		run_one($sc);
		note(sprintf('%s: %.1f s', $sc->{name}, time - $t0));
	}
	is(join('', grep { !/SIGQUIT|signal 3/ } $server->crashes), '', 'no crash in the server log');
	$_->end for @sessions;
	$server->stop('immediate');
	done_testing();
	return;
}

1;
