# A VACUUM that was cancelled while it waited for a scan must not let the next one pass that scan.
# (The first version flipped the gate back and waited for the other one only: the cursor then returned deleted rows.)
use strict;
use warnings;

use SurfidxTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('gate');
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE EXTENSION surfidx;
CREATE TABLE g (k int) WITH (autovacuum_enabled = off);
INSERT INTO g SELECT generate_series(1, 2000);
CREATE INDEX g_k ON g USING surfidx (k);
VACUUM g;
DELETE FROM g WHERE k = 1500;
END

# A session whose cursor stands in an index-only scan.
my $session = open_session($node);

ask($session, 'BEGIN; SET enable_seqscan = off; SET enable_bitmapscan = off; DECLARE c CURSOR FOR SELECT k FROM g ORDER BY k;');
like(ask($session, 'FETCH 1 FROM c;'), qr/^1$/m, 'the cursor stands on the first row');

foreach my $round (1 .. 3)
{
	my ($rc, $stdout, $stderr) = $node->psql('postgres', 'VACUUM (INDEX_CLEANUP ON) g',
		extra_params => [], on_error_stop => 0, connstr => $node->connstr('postgres') . " options='-c statement_timeout=1s'");
	like($stderr, qr/canceling statement due to statement timeout/, "VACUUM $round waits for the cursor");
}
my @rows = ask($session, 'FETCH 1999 FROM c;') =~ /^(\d+)$/mg;
is(scalar @rows, 1998, 'the cursor returns every live row');
ok(!(grep { $_ == 1500 } @rows), 'and no deleted one');
ask($session, 'COMMIT;');
end_session($session);

$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) g');
is($node->safe_psql('postgres', "SELECT surfidx_check('g_k', true)"), '', 'check');
$node->stop;
done_testing();
