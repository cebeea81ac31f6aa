# The verifier finds each kind of damage that the pages can show: one index for each, damaged while the server is down, by what it says.
# (Here, because generations stay frozen only where a merge is stopped.)
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SurfStops;
use Test::More;

my $BLCKSZ = 8192;
my $BODY = 24;

# ---- pages in a file: $f->{bytes}, and where what is, by block

sub get { my ($f, $at, $as) = @_; return unpack($as, substr($f->{bytes}, $at, 8)) }
sub put { my ($f, $at, $as, $value) = @_; my $new = pack($as, $value); substr($f->{bytes}, $at, length $new) = $new; return }
sub add { my ($f, $at, $as, $by) = @_; put($f, $at, $as, get($f, $at, $as) + $by); return }
sub body { my ($b, $at) = @_; return $b * $BLCKSZ + $BODY + $at }
# the tail: build id -24, right -16, owner -12, kind -8, level -7, flags -6, version -4
sub tail { my ($b, $at) = @_; return ($b + 1) * $BLCKSZ + $at }
sub page { my ($f, $b) = @_; return substr($f->{bytes}, $b * $BLCKSZ, $BLCKSZ) }
sub set_page { my ($f, $b, $page) = @_; substr($f->{bytes}, $b * $BLCKSZ, $BLCKSZ) = $page; return }

# The metapage's fields
my ($NEXT_GEN, $NEXT_RUN, $GENS, $RUNS, $RESUME, $DICTS) = map { $BODY + $_ } 36, 40, 56, 152, 408, 592;
my ($GEN_SIZE, $RUN_SIZE) = (24, 32);

# Pages of a kind in the order of their chain: those of the listed run or generation, from the left.
sub chain
{
	my ($f, $kind, $level, $owner) = @_;
	my (%right, %is_right);

	for my $b (3 .. length($f->{bytes}) / $BLCKSZ - 1)
	{
		next if get($f, tail($b, -8), 'C') != $kind || get($f, tail($b, -7), 'C') != $level || get($f, tail($b, -12), 'L') != $owner;
		$right{$b} = get($f, tail($b, -16), 'L');
		$is_right{ $right{$b} } = 1;
	}
	my ($b) = grep { !$is_right{$_} } sort { $a <=> $b } keys %right;
	my @chain;
	for (; defined $b && exists $right{$b}; $b = $right{$b}) { push @chain, $b }
	return @chain;
}

sub run_id { my ($f, $r) = @_; return get($f, $RUNS + $r * $RUN_SIZE, 'L') }
sub leaves { my ($f, $r) = @_; return chain($f, 4, 0, run_id($f, $r || 0)) }
sub logs { my ($f, $g) = @_; return chain($f, 3, 0, get($f, $GENS + ($g || 0) * $GEN_SIZE, 'L')) }
sub filters { my ($f) = @_; return grep { get($f, tail($_, -8), 'C') == 7 } 3 .. length($f->{bytes}) / $BLCKSZ - 1 }
sub root { my ($f) = @_; return get($f, $RUNS + 4, 'L') }

# table, what is done to the file, what the verifier says.  Tables: v (an active generation), z (a frozen one), r (a run), h (high trees), b (Bloom filters), d (decimals).
my @damages = (
	# the metapage
	[ v => 'number of the next generation', sub { add($_[0], $NEXT_GEN, 'L', 1) }, qr/the next generation is \d+ and the active one/ ],
	[ v => 'active generation sealed', sub { put($_[0], $GENS + 16, 'Q', 5) }, qr/active generation \d+ is sealed/ ],
	[ v => 'generation without pages', sub { put($_[0], $GENS + 12, 'L', 0) }, qr/generation \d+ has 0 pages from block/ ],
	[ z => 'number of a frozen generation', sub { add($_[0], $GENS + $GEN_SIZE, 'L', 7) }, qr/generation \d+ stands where \d+ should/ ],
	[ z => 'pages of a frozen generation', sub { add($_[0], $GENS + $GEN_SIZE + 12, 'L', 1) }, qr/metapage has block \d+ as the last one|ends after \d+ log pages, the metapage counts/ ],
	[ z => 'entries of a frozen generation', sub { add($_[0], $GENS + $GEN_SIZE + 16, 'Q', 1) }, qr/was sealed with \d+ entries, its log has \d+/ ],
	[ v => 'number of the next run', sub { put($_[0], $NEXT_RUN, 'L', run_id($_[0], 0)) }, qr/run \d+ with \d+ as the next one/ ],
	[ r => 'a run listed twice', sub { put($_[0], $RUNS, 'L', run_id($_[0], 1)) }, qr/run \d+ is listed twice/ ],
	[ v => 'height of the tree', sub { put($_[0], $RUNS + 8, 'L', 60) }, qr/root of run \d+ at block \d+ of level 60/ ],
	[ v => 'height of the tree, one more', sub { add($_[0], $RUNS + 8, 'L', 1) }, qr/not a page of level 2 of run/ ],
	[ v => 'format version', sub { add($_[0], $BODY + 4, 'S', 1) }, qr/format version/ ],
	[ v => 'build id', sub { add($_[0], $BODY + 8, 'Q', 1) }, qr/page of another build/ ],
	[ h => 'root', sub { put($_[0], $RUNS + 4, 'L', (chain($_[0], 5, 1, run_id($_[0], 0)))[1]); put($_[0], $RUNS + 8, 'L', 1) }, qr/does not begin at minus infinity/ ],
	[ v => 'half merged generation', sub { put($_[0], $RESUME, 'L', 99) }, qr/generation 99 is half merged, and is not the oldest/ ],
	[ z => 'target of a half merged generation', sub { put($_[0], $RESUME, 'L', get($_[0], $GENS + $GEN_SIZE, 'L')); put($_[0], $RESUME + 4, 'L', 99) },
		qr/generation \d+ was merged into run 99, which is not listed/ ],
	[ r => 'half merged run', sub { put($_[0], $RESUME + 64, 'L', run_id($_[0], 1)) }, qr/run \d+ is half merged, and is none in front/ ],
	[ r => 'target of a half merged run', sub { put($_[0], $RESUME + 64 + 4 * $_, 'L', run_id($_[0], 0)) for 0, 1 }, qr/run \d+ was merged into run \d+, which is not an older one/ ],
	[ v => 'number of a dictionary', sub { put($_[0], $DICTS, 'L', 0) }, qr/dictionary 0 is listed behind 0/ ],
	[ v => 'scheme of a dictionary', sub { add($_[0], $DICTS + 16, 'S', 1) }, qr/dictionary \d+ is of scheme \d+, the metapage says \d+/ ],
	[ v => 'checksum of a dictionary', sub { add($_[0], $DICTS + 12, 'L', 1) }, qr/does not have the checksum/ ],
	[ v => 'length of a dictionary', sub { add($_[0], $DICTS + 8, 'L', 1) }, qr/another size than the metapage says|the chain of dictionary/ ],
	[ v => 'a dictionary that is not listed', sub { put($_[0], $DICTS - 8, 'L', 0) }, qr/the leaf needs dictionary \d+, which the metapage does not list/ ],
	[ v => 'gate', sub { put($_[0], tail(2, -8), 'C', 1) }, qr/not a gate page/ ],
	[ v => 'build id of a gate', sub { add($_[0], tail(1, -24), 'Q', 1) }, qr/page of another build/ ],
	# the log
	[ v => 'sequence number of a log page', sub { add($_[0], body((logs($_[0]))[1], 0), 'L', 1) }, qr/log page number 1 of generation \d+ says that it is number 2|log page out of sequence/ ],
	[ v => 'entries before a log page', sub { add($_[0], body((logs($_[0]))[1], 8), 'Q', 1) }, qr/log page counts \d+ entries before it, there are \d+/ ],
	[ v => 'entries on a log page', sub { add($_[0], body((logs($_[0]))[0], 4), 'L', 1) }, qr/log page says that it has \d+ entries, it has \d+/ ],
	[ v => 'active log page sealed', sub { put($_[0], tail((logs($_[0]))[0], -6), 'S', 1) }, qr/log page is sealed before the end/ ],
	[ z => 'frozen log not sealed', sub { put($_[0], tail((logs($_[0], 1))[-1], -6), 'S', 0) }, qr/the last one of a frozen generation but not sealed/ ],
	[ v => 'owner of a log page', sub { add($_[0], tail((logs($_[0]))[1], -12), 'L', 1) }, qr/not a log page of generation|generation \d+ has no log/ ],
	[ z => 'tail of a frozen log', sub { put($_[0], $GENS + $GEN_SIZE + 8, 'L', (logs($_[0], 1))[0]) }, qr/while the metapage has block \d+ as the last one/ ],
	[ v => 'chain of the log', sub { my @l = logs($_[0]); put($_[0], tail($l[0], -16), 'L', $l[2]) }, qr/log page number 1 of generation \d+ says that it is number 2|log page out of sequence/ ],
	[ v => 'impossible TID', sub { substr($_[0]{bytes}, body((logs($_[0]))[1], 16), 80) =~ s/^(...).{6}/$1\0\0\0\0\0\0/s }, qr/impossible TID/ ],
	[ v => 'an entry twice', sub { twice(@_) }, qr/an entry stands twice in the log/ ],
	# leaves and inner pages
	[ h => 'right link that leaves one out', sub { my @l = leaves($_[0]); put($_[0], tail($l[1], -16), 'L', $l[3]) }, qr/low fence differs from the high fence of block|leaf without a downlink/ ],
	[ v => 'no right link', sub { put($_[0], tail((leaves($_[0]))[1], -16), 'L', 0xffffffff) }, qr/no right neighbour beyond a finite high fence/ ],
	[ v => 'right link of the last leaf', sub { my @l = leaves($_[0]); put($_[0], tail($l[-1], -16), 'L', $l[0]) }, qr/right neighbour of a page that ends at plus infinity/ ],
	[ h => 'right link of the root', sub { put($_[0], tail(root($_[0]), -16), 'L', (leaves($_[0]))[0]) }, qr/right neighbour of a page that ends at plus infinity/ ],
	[ v => 'link to a page that is taken', sub { my @l = leaves($_[0]); put($_[0], tail($l[5], -16), 'L', $l[2]) }, qr/link to block \d+, which has another owner already/ ],
	[ v => 'link beyond the end', sub { put($_[0], tail((leaves($_[0]))[5], -16), 'L', 1_000_000) }, qr/link to block 1000000 beyond the end of the file/ ],
	[ v => 'owner of a leaf', sub { add($_[0], tail((leaves($_[0]))[2], -12), 'L', 1) }, qr/not a page of level 0 of run/ ],
	[ v => 'level of a leaf', sub { put($_[0], tail((leaves($_[0]))[2], -7), 'C', 1) }, qr/not a page of level 0 of run/ ],
	[ v => 'build id of a leaf', sub { add($_[0], tail((leaves($_[0]))[2], -24), 'Q', 1) }, qr/not a page of level 0 of run/ ],
	[ h => 'owner of an inner page', sub { add($_[0], tail((chain($_[0], 5, 1, run_id($_[0], 0)))[1], -12), 'L', 1) }, qr/not a page of level 1 of run/ ],
	[ v => 'two leaves in each other\'s places', sub { my @l = leaves($_[0]); my ($x, $y) = map { page($_[0], $_) } @l[ 2, 3 ];
			set_page($_[0], $l[2], $y); set_page($_[0], $l[3], $x); put($_[0], tail($l[1], -16), 'L', $l[3]); put($_[0], tail($l[3], -16), 'L', $l[2]) },
		qr/leaf without a downlink|the level above leads to block|the filter/ ],
	[ v => 'a copy of a leaf', sub { $_[0]{bytes} .= page($_[0], (leaves($_[0]))[2]) }, qr/page of kind 4, level 0, owner \d+ belongs to nobody and is not free/ ],
	[ v => 'number of entries of a leaf', sub { add($_[0], body((leaves($_[0]))[2], 4), 'L', 1) }, qr/leaf: the number of entries is wrong/ ],
	[ v => 'an entry less than the downlink counts', sub { another_leaf(@_) }, qr/the downlink counts \d+ entries, the leaf has \d+/ ],
	[ h => 'a separator', sub { my $r = root($_[0]); my $len = get($_[0], $r * $BLCKSZ + 12, 'S');	# pd_lower
			my $at = $r * $BLCKSZ + $len - 20; put($_[0], $at, 'C', get($_[0], $at, 'C') ^ 0x11) }, qr/inner page|separator|leads to block|downlink/ ],
	[ v => 'a byte of a leaf', sub { add($_[0], body((leaves($_[0]))[2], 2000), 'C', 1) }, qr/leaf|another key|row \(/ ],
	(map { my ($what, $at, $byte) = @$_;
			[ d => "$what of decimals", sub { decimals($_[0], $at, $byte) }, qr/leaf: / ] }
		[ places => 2, 3 ], [ signs => 2, 0x82 ], [ 'high bytes' => 3, 0x7f ]),
	[ r => 'a leaf of a run with cut keys',
		sub { my $at = body((leaves($_[0], 0))[0], 1);
			put($_[0], $at, 'C', get($_[0], $at, 'C') | 0x20) },
		qr/cut keys outside|leaf: / ],
	# filters
	[ v => 'owner of a filter', sub { add($_[0], tail((filters($_[0]))[1], -12), 'L', 1) }, qr/not a filter of run/ ],
	[ v => 'filter of other leaves', sub { my @f = filters($_[0]); set_page($_[0], $f[1], page($_[0], $f[0])) }, qr/the filter begins elsewhere than the first leaf under it|the filter ends elsewhere/ ],
	[ b => 'bits of a filter', sub { my ($b) = filters($_[0]); substr($_[0]{bytes}, body($b, 2000), 2000) = "\0" x 2000 }, qr/the filter denies a key that a leaf under it has/ ]);

# A block of decimals of two places, whose images share their first byte: another byte there.
sub decimals
{
	my ($f, $at, $byte) = @_;
	my ($b) = leaves($f);

	page($f, $b) =~ /\x87\x8a\x02/ or die "no decimals\n";
	put($f, $b * $BLCKSZ + $-[0] + $at, 'C', $byte);
	return;
}

# Put the second entry of the log's second page over the third, where both have the same length.
sub twice
{
	my ($f) = @_;
	my ($b) = (logs($f))[1];
	my $lower = get($f, $b * $BLCKSZ + 12, 'S');
	my $text = substr($f->{bytes}, $b * $BLCKSZ, $lower);
	my @at;

	# keys are 01, a text of 32 digits and 00; entries that leave out their length have 3 bytes in front
	push @at, $-[0] while $text =~ /\x01[0-9a-f]{32}\0/g;
	my ($i) = grep { $at[$_ + 1] - $at[$_] == 37 && $at[$_ + 2] - $at[$_ + 1] == 37 } 2 .. 20;
	die "no neighbours\n" if !defined $i;
	substr($f->{bytes}, $b * $BLCKSZ + $at[$i + 1] - 3, 37) = substr($f->{bytes}, $b * $BLCKSZ + $at[$i] - 3, 37);
	return;
}

# A leaf of the same index over a table without one of its rows: of the same fences, in the damaged file's place of the tree.
sub another_leaf
{
	my ($f, $other) = @_;
	my @ours = leaves($f);
	my @theirs = leaves($other);

	for my $i (0 .. $#ours)
	{
		my ($x, $y) = (page($f, $ours[$i]), page($other, $theirs[$i]));
		next if get($f, body($ours[$i], 4), 'L') == get($other, body($theirs[$i], 4), 'L');
		substr($y, -24) = substr($x, -24);
		set_page($f, $ours[$i], $y);
		return;
	}
	die "no such leaf\n";
}

my %options = (
	d => '((k / 100::float8))',
	v => '(s) WITH (filter = surf, hope = single)', w => '(s) WITH (filter = surf, hope = single)', z => '(s)', b => '(s) WITH (filter = bloom)',
	r => '(s) WITH (run_ratio = 10, merge_ratio = 10, delta_size = 64)',
	h => '((repeat(md5((k / 64)::text), 20) || repeat(md5((k / 8)::text), 10) || repeat(md5(k::text), 10)) COLLATE "C")');
my %rows = (d => 3000, v => 17000, w => 17000, z => 1000, b => 5000, r => 5000, h => 3000);

# The file of an index.
sub load
{
	my ($index) = @_;
	my $path = server()->{data} . '/' . $index->{path};

	open(my $h, '<:raw', $path) or die "$path: $!";
	local $/;
	return { path => $path, bytes => scalar <$h> };
}

scenario 'the verifier finds each kind of damage', [], sub {
	my %index;
	my %path_of;
	my $n = 0;

	$index{ "$_->[0]_" . ++$n } = { table => $_->[0], damage => $_ } for @damages;
	$index{w_0} = { table => 'w' };
	for my $t (sort keys %rows)
	{
		my @mine = grep { $index{$_}{table} eq $t } sort keys %index;

		sql("CREATE TABLE $t (k int, s text COLLATE \"C\") WITH (autovacuum_enabled = off, vacuum_truncate = off); INSERT INTO $t SELECT g, md5(g::text) FROM generate_series(1, $rows{$t}) g");
		sql("CREATE INDEX $_ ON $t USING surfidx $options{$t}") for @mine;
		# in tables r: a run; z: a frozen generation
		sql("INSERT INTO $t SELECT g, md5(g::text) FROM generate_series(100001, 101000) g") if $t ne 'h' && $t ne 'w';
		sql("VACUUM $t") if $t eq 'r';
		for my $name ($t eq 'z' ? @mine : ())
		{
			arm('frozen', 'error');
			is(error_of("SELECT surfidx_merge('$name')"), '22000', 'a merge stops');
			release('frozen');
		}
		sql("INSERT INTO $t SELECT g, md5(g::text) FROM generate_series(200001, 200020) g") if $t ne 'h' && $t ne 'w';
	}
	sql("DELETE FROM w WHERE k = 4711; VACUUM (INDEX_CLEANUP ON) w");
	is(sql("SELECT count(*) FROM surfidx_check_all(true, true) WHERE problem IS NOT NULL"), '0', 'before, all are sound');
	$index{$_}{path} = sql("SELECT pg_relation_filepath('$_')") for keys %index;
	restart('fast', sub {
		for my $name (grep { $index{$_}{damage} } sort keys %index)
		{
			my $f = load($index{$name});

			$index{$name}{damage}[2]->($f, load($index{w_0}));
			open(my $h, '>:raw', $f->{path}) or die "$f->{path}: $!";
			print $h $f->{bytes};
			close $h or die;
		}
	});
	my %problem;
	# first without the rows, which would tell of some of it before
	for my $rows ('false, false', 'true, true')
	{
		my $r = control()->query("SET ignore_checksum_failure = on; SELECT indexrelname || ' ' || problem FROM surfidx_check_all($rows) WHERE problem IS NOT NULL", 300);

		for (@{ $r->{rows} }) { $problem{$1} //= $2 if /^(\w+) (.*)/ }
	}
	for my $name (sort { ($a =~ /(\d+)/)[0] <=> ($b =~ /(\d+)/)[0] } grep { $index{$_}{damage} } keys %index)
	{
		my ($t, $what, undef, $expected) = @{ $index{$name}{damage} };

		like($problem{$name} // 'nothing', $expected, $what);
	}
	is($problem{w_0}, undef, 'the index that was left alone is sound');
};

# The table changes while the index is not told: entries and rows that do not belong together.
scenario 'the verifier finds entries without their rows', [], sub {
	my $untold = sub {
		my ($index, @statements) = @_;
		my $ready = sub { sql("SET allow_system_table_mods = on; UPDATE pg_index SET indisready = $_[0] WHERE indexrelid = '$index'::regclass;
			UPDATE pg_class SET relhasindex = true WHERE relname ~ '^e_'; RESET allow_system_table_mods") };	# (VACUUM took it for a table without)

		$ready->('false');
		my $s = session();	# (a new one: nobody tells the others)
		sql($_, $s) for @statements;
		$ready->('true');
	};
	my $check = sub { my $r = session()->query("\\set VERBOSITY terse\nSELECT problem FROM surfidx_check_all(false, $_[1]) WHERE indexrelname = '$_[0]'", 60); return join(' ', @{ $r->{rows} }) };

	for my $what (qw(gone other twice beyond))
	{
		sql("CREATE TABLE e_$what (k int) WITH (autovacuum_enabled = off); INSERT INTO e_$what SELECT generate_series(1, 3000); CREATE INDEX i_$what ON e_$what USING surfidx (k)");
	}
	$untold->('i_gone', 'DELETE FROM e_gone WHERE k = 100', 'VACUUM e_gone');
	like($check->('i_gone', 'true'), qr/entry for row \(0,100\), which does not exist/, 'a row that does not exist');
	$untold->('i_other', 'DELETE FROM e_other WHERE k = 100', 'VACUUM e_other', 'INSERT INTO e_other VALUES (5000)');
	like($check->('i_other', 'true'), qr/entry for row \(0,100\), which has another key/, 'a row of another key');
	$untold->('i_twice', 'DELETE FROM e_twice WHERE k = 100', 'VACUUM e_twice');
	sql('INSERT INTO e_twice VALUES (100)', session());
	like($check->('i_twice', 'true'), qr/there is another entry for row \(0,100\)/, 'a row with an entry in two stages');
	$untold->('i_beyond', 'DELETE FROM e_beyond WHERE k > 1000', 'VACUUM e_beyond');
	like($check->('i_beyond', 'false'), qr/entry for row \(\d+,\d+\) of a table that has \d+ blocks/, 'a row beyond the end of the table');
};

run_scenarios(damages => 1);
