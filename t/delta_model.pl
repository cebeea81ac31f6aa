# A model of the delta: all orders in which inserters, a merge, a VACUUM and a reader can take the
# locks are tried; without some of the rules something goes wrong (src/README.md: D2, I1, I9, M2, R1
# to R3, R4, U1, V1 to V3). R1, R3, R4 and the first wait of V3 stand in for each other here: two
# of them have to be left out. It runs no server: what the code does under one lock is one step.
# Not in it: batches that end (R4), runs, interrupted VACUUMs, pages of a dropped generation that come
# into other hands (so each way along the log is there).
#
# A state is a hash of strings:
#	gens	generations that the metapage lists, newest first, a digit each
#	logN	entries of a generation, a letter each, pages of two apart by "|"; a capital is flagged
#	sealN	it takes no more
#	imN		what its image holds; cuN, how many entries of the log it has seen; rmN, the removal
#			counter as of which it read their flags
#	tree	entries of two leaves: a and c in the left one, b and d in the right one
#	rc		the removal counter; ml, the holder of the merge lock; gate, pin0, pin1
#	done	entries whose inserter is through; freed: VACUUM has let go of the TID of d
# A process is a function from a state to the next one, undef where it has to wait; its own
# variables begin with its name, and NAME.pc says what it does next.
use strict;
use warnings;

use Test::More;

my %LEAF = (a => 0, c => 0, b => 1, d => 1);
my %mutant;

sub letters { my $s = shift; $s =~ tr/|//d; return $s; }
sub listed { my ($s, $g) = @_; return index($s->{gens}, $g) >= 0; }
sub tail_page { my $log = shift; return $log =~ tr/|//; }
sub without { my ($set, $e) = @_; $set =~ s/$e//g; return $set; }

sub with
{
	my %set = map { $_ => 1 } split //, join '', @_;
	return join '', sort keys %set;
}

sub in_leaf
{
	my ($set, $leaf) = @_;
	return join '', grep { $LEAF{lc $_} == $leaf } split //, $set;
}

# ---- the log ----

# One step of appending NAME.e: D1, D2. Done: NAME.pc is $then.
sub append
{
	my ($s, $p, $then, $passes) = @_;
	my ($g, $at) = split /,/, $s->{"$p.tail"};

	if ($at eq 'none' || !listed($s, $g) ||
		($s->{"seal$g"} && !$mutant{'append behind seal'}))
	{
		return meta_of_tail($s, $p);
	}
	if ($at < tail_page($s->{"log$g"}))
	{
		$s->{"$p.tail"} = "$g," . ($at + 1);
		return $s;
	}
	if ($passes && !$mutant{'appends see nothing new'})
	{
		my $verdict = $passes->($s);

		if (!$verdict)
		{
			$s->{"$p.pc"} = 'begin';
			return $s;
		}
	}
	if ($s->{"log$g"} =~ /[a-zA-Z]{2}$/)
	{
		$s->{"$p.pc"} = 'extend';
		return $s;
	}
	$s->{"log$g"} .= $s->{"$p.e"};
	$s->{done} = with($s->{done}, $s->{"$p.e"});
	$s->{"$p.pc"} = $then;
	return $s;
}

# What the metapage says of the log's tail; without a page, the way to one.
sub meta_of_tail
{
	my ($s, $p) = @_;
	my $g = substr($s->{gens}, 0, 1);

	if ($s->{"log$g"} eq '')
	{
		$s->{"$p.tail"} = "$g,none";
		$s->{"$p.pc"} = 'extend';
	}
	else
	{
		$s->{"$p.tail"} = "$g," . tail_page($s->{"log$g"});
		$s->{"$p.pc"} = 'append';
	}
	return $s;
}

# A page more, under the metapage's lock, unless somebody else has come first.
sub extend
{
	my ($s, $p) = @_;
	my ($g, $at) = split /,/, $s->{"$p.tail"};

	if (substr($s->{gens}, 0, 1) eq $g && !$s->{"seal$g"})
	{
		if ($at eq 'none' && $s->{"log$g"} eq '')
		{
			$s->{"log$g"} = '-';	# a page without entries
		}
		elsif ($at ne 'none' && $at == tail_page($s->{"log$g"}))
		{
			$s->{"log$g"} .= '|';
		}
	}
	$s->{"log$g"} =~ s/^-$/|/;
	return meta_of_tail($s, $p);
}

sub inserter
{
	my ($p, $e) = @_;
	return sub {
		my $s = shift;
		my $pc = $s->{"$p.pc"} //= 'begin';

		$s->{"$p.e"} = $e;
		return meta_of_tail($s, $p) if $pc eq 'begin';
		return append($s, $p, 'end') if $pc eq 'append';
		return extend($s, $p) if $pc eq 'extend';
		return undef;
	};
}

# ---- images ----

# One hold of an image's lock in exclusive mode (I1): what the log has, with its flags of now.
sub apply
{
	my ($s, $g, $r) = @_;
	my $all = letters($s->{"log$g"});

	if ($s->{"rm$g"} < $r && !$mutant{'no removal counter'})
	{
		$s->{"im$g"} = '';
		$s->{"cu$g"} = 0;
		$s->{"rm$g"} = $r;
	}
	for my $e (split //, substr($all, $s->{"cu$g"}))
	{
		$s->{"im$g"} = with($s->{"im$g"}, $e) if $e eq lc $e;
	}
	$s->{"cu$g"} = length $all;
	return;
}

# One hold in shared mode, with a visit to the log's tail. What a reader may use, and how many
# entries of the log that has seen; or nothing: apply.
sub look
{
	my ($s, $g, $r, $need) = @_;
	my $all = letters($s->{"log$g"});

	return if $s->{"rm$g"} < $r && !$mutant{'no removal counter'};
	if ($s->{"cu$g"} >= $need || $s->{"cu$g"} == length $all ||
		$mutant{'end of the log unread'} && $s->{"im$g"} ne '')
	{
		return ($s->{"im$g"}, $s->{"cu$g"});
	}
	# I9: a short end is copied
	if ($s->{"im$g"} ne '' && length($all) - $s->{"cu$g"} == 1)
	{
		my $end = substr($all, -1);
		return ($end eq lc $end ? with($s->{"im$g"}, $end) : $s->{"im$g"}, length $all);
	}
	return;
}

# ---- readers ----

# Steps R1 to R3 of process $p for one leaf; NAME.pc is 'found' then, NAME.res what was found.
sub read_step
{
	my ($s, $p) = @_;
	my $pc = $s->{"$p.pc"};

	if ($pc eq 'gate')
	{
		# the one that was current when it looked last
		my $last = $s->{"$p.pin"} = $s->{"$p.last"} //= 0;

		$s->{"pin$last"}++;
		$s->{"$p.pc"} = 'meta';
		return $s;
	}
	if ($pc eq 'meta')
	{
		if ($s->{gate} ne $s->{"$p.pin"} && !$mutant{'gate not read again'})
		{
			$s->{"$p.last"} = $s->{gate};
			return restart($s, $p);
		}
		@$s{"$p.list", "$p.r", "$p.i", "$p.need", "$p.res"} = ($s->{gens}, $s->{rc}, 0, 99, '');
		$s->{"$p.pc"} = $mutant{'leaf before delta'} ? 'leaf' : 'image';
		return $s;
	}
	if ($pc eq 'image' || $pc eq 'apply')
	{
		my $g = substr($s->{"$p.list"}, $s->{"$p.i"}, 1);
		my ($found, $seen);

		if (!listed($s, $g))
		{
			return restart($s, $p) if !$mutant{'no restart'};
			($found, $seen) = ('', 0);
		}
		elsif ($pc eq 'apply')
		{
			apply($s, $g, $s->{"$p.r"});
			$s->{"$p.need"} = $s->{"cu$g"};
			$s->{"$p.pc"} = 'image';
			return $s;
		}
		else
		{
			($found, $seen) = look($s, $g, $s->{"$p.r"}, $s->{"$p.need"});
		}
		if (!defined $found)
		{
			$s->{"$p.pc"} = 'apply';
			return $s;
		}
		# U1: the place up to which everything of the active generation was seen
		$s->{"$p.place"} = "$g,$seen" if $s->{"$p.i"} == 0;
		$s->{"$p.res"} .= in_leaf($found, $s->{"$p.leaf"});
		$s->{"$p.need"} = 99;
		if (++$s->{"$p.i"} == length $s->{"$p.list"})
		{
			$s->{"$p.pc"} = $mutant{'leaf before delta'} ? 'found' : 'leaf';
		}
		return $s;
	}
	if ($pc eq 'leaf')
	{
		$s->{"$p.res"} .= in_leaf($s->{tree}, $s->{"$p.leaf"});
		$s->{"$p.pc"} = $mutant{'leaf before delta'} ? 'image' : 'found';
		return $s;
	}
	return undef;
}

# R4, or another gate
sub restart
{
	my ($s, $p) = @_;

	unpin($s, $p);
	$s->{"$p.pc"} = 'gate';
	return $s;
}

sub unpin
{
	my ($s, $p) = @_;

	$s->{"pin" . $s->{"$p.pin"}}--;
	$s->{"$p.pin"} = '';
	return;
}

# An index-only scan of both leaves. $s->{bad} says what is wrong.
sub reader
{
	my ($p) = @_;
	return sub {
		my $s = shift;
		my $pc = $s->{"$p.pc"} //= 'begin';

		if ($pc eq 'begin')
		{
			@$s{"$p.must", "$p.new", "$p.leaf"} = ($s->{done}, $s->{freed}, 0);
			$s->{"$p.pc"} = 'gate';
			return $s;
		}
		return read_step($s, $p) if $pc ne 'found';
		for my $e (split //, in_leaf($s->{"$p.must"}, $s->{"$p.leaf"}))
		{
			$s->{bad} = "$e is missed" if index($s->{"$p.res"}, $e) < 0;
		}
		if (index($s->{"$p.res"}, 'd') >= 0 && $s->{freed})
		{
			$s->{bad} = $s->{"$p.new"} ? 'd comes back from the dead' :
				'the TID of d is another row\'s while a scan has it';
		}
		unpin($s, $p);
		$s->{"$p.pc"} = ++$s->{"$p.leaf"} < 2 ? 'gate' : 'end';
		return $s;
	};
}

# U1: checks whether the row is there, and appends it. The rows of all of these have equal keys.
sub unique_inserter
{
	my ($p, $e) = @_;
	my $others = join '', grep { $_ ne $e } 'a', 'c';
	my $passes = sub {
		my $s = shift;
		my ($g, $n) = split /,/, $s->{"$p.place"};
		my $later;

		$later = substr(letters($s->{"log$g"}), $n);
		$later .= letters($s->{"log$_"}) for $g + 1 .. 2;
		return $later !~ /[$others]/;
	};
	return sub {
		my $s = shift;
		my $pc = $s->{"$p.pc"} //= 'begin';

		$s->{"$p.e"} = $e;
		if ($pc eq 'begin')
		{
			@$s{"$p.leaf", "$p.pc"} = (0, 'gate');
			return $s;
		}
		if ($pc eq 'found')
		{
			my $there = $s->{"$p.res"} =~ /[$others]/;

			unpin($s, $p);
			$s->{"$p.pc"} = $there ? 'end' : 'append';
			$s->{"$p.tail"} = substr($s->{gens}, 0, 1) . ',none' if !$there;
			return $s;
		}
		if ($pc eq 'append')
		{
			my $t = append($s, $p, 'end', $passes);

			$t->{bad} = 'two rows have the key' if $t && $t->{done} =~ /a.*c/;
			return $t;
		}
		return extend($s, $p) if $pc eq 'extend';
		return read_step($s, $p);
	};
}

# ---- merges ----

# Freezes the active generation, and takes its entries to both leaves.
sub merge
{
	my ($p) = @_;
	return sub {
		my $s = shift;
		my $pc = $s->{"$p.pc"} //= 'freeze';
		my $old = $s->{"$p.g"};

		if ($pc eq 'freeze')
		{
			my $g = substr($s->{gens}, 0, 1);

			return undef if $s->{ml} ne '' || $s->{"log$g"} eq '' || $g == 2;
			$s->{"seal$g"} = 1;
			$s->{gens} = ($g + 1) . $s->{gens};
			@$s{"$p.g", "$p.leaf", "$p.pc"} = ($g, 0, 'meta');
			return $s;
		}
		if ($pc eq 'meta' && $mutant{'metapage before merge lock'})
		{
			@$s{"$p.r", "$p.pc"} = ($s->{rc}, 'lock');
			return $s;
		}
		if ($pc eq 'meta' || $pc eq 'lock')
		{
			return undef if $s->{ml} ne '';
			@$s{'ml', "$p.pc"} = ($p, 'image');
			$s->{"$p.r"} = $s->{rc} if $pc eq 'meta';
			return $s;
		}
		if ($pc eq 'image')
		{
			apply($s, $old, $s->{"$p.r"});
			$s->{"$p.pc"} = 'group';
			return $s;
		}
		if ($pc eq 'group')
		{
			$s->{tree} = with($s->{tree}, in_leaf($s->{"im$old"}, $s->{"$p.leaf"}));
			$s->{ml} = '';
			$s->{"$p.pc"} = ++$s->{"$p.leaf"} < 2 ? 'meta' : 'drop';
			return $s;
		}
		return undef if $pc ne 'drop' || $s->{ml} ne '';
		$s->{gens} =~ s/$old//;
		$s->{"$p.pc"} = 'end';
		return $s;
	};
}

# ---- VACUUM of d ----

sub vacuum
{
	my ($p) = @_;
	my @order = $mutant{'tree before log'} ? qw(leaf0 leaf1 list flag raise) :
		qw(list flag raise leaf0 leaf1);
	my @waits = $mutant{'no gate'} ? () : qw(before flip wait);
	my @steps = (@order, grep({ $_ ne 'before' || !$mutant{'no first wait'} } @waits), 'free');
	return sub {
		my $s = shift;
		my $n = $s->{"$p.n"} //= 0;
		my $do = $steps[$n] // return undef;

		if ($do eq 'list')
		{
			$s->{"$p.list"} = $s->{gens};
		}
		elsif ($do eq 'flag')
		{
			# one page's lock after the other: here a generation's
			my ($g, $rest) = $s->{"$p.list"} =~ /^(.)(.*)$/;

			$s->{"log$g"} =~ s/d/D/ if listed($s, $g);
			$s->{"$p.list"} = $rest;
			return $s if $rest ne '';
		}
		elsif ($do eq 'raise')
		{
			$s->{rc}++;
		}
		elsif ($do =~ /^leaf/)
		{
			return undef if $s->{ml} ne '';
			$s->{tree} = without($s->{tree}, 'd') if $do eq 'leaf1';
		}
		elsif ($do eq 'before')
		{
			return undef if $s->{'pin' . (1 - $s->{gate})} > 0;
		}
		elsif ($do eq 'flip')
		{
			$s->{gate} = 1 - $s->{gate};
		}
		elsif ($do eq 'wait')
		{
			return undef if $s->{'pin' . (1 - $s->{gate})} > 0;
		}
		else
		{
			$s->{freed} = 1;
		}
		$s->{"$p.n"}++;
		return $s;
	};
}

# ---- all orders ----

# What the first state says otherwise
sub state_with
{
	my %s = (gens => '0', tree => '', rc => 0, ml => '', gate => 0, pin0 => 0, pin1 => 0,
		done => '', freed => 0, bad => '',
		map { ("log$_" => '', "seal$_" => 0, "im$_" => '', "cu$_" => 0, "rm$_" => 0) } 0 .. 2);
	return { %s, @_ };
}

# Walks all states. What was bad first, or ''; and how many states there are.
sub all_orders
{
	my ($first, @processes) = @_;
	my @open = ($first);
	my %seen;

	while (my $s = pop @open)
	{
		for my $process (@processes)
		{
			my $next = $process->({ %$s });
			my $key;

			next if !$next;
			return ($next->{bad}, scalar keys %seen) if $next->{bad};
			$key = join ';', map { "$_=$next->{$_}" } sort keys %$next;
			push @open, $next if !$seen{$key}++;
		}
	}
	return ('', scalar keys %seen);
}

my %scenes = (
	'inserters, a merge, a reader' => sub {
		all_orders(state_with(log0 => 'b', im0 => 'b', cu0 => 1, done => 'b'),
			inserter('i', 'a'), inserter('j', 'c'), merge('m'), reader('r'));
	},
	'VACUUM, a merge, a reader' => sub {
		all_orders(state_with(log0 => 'bd', done => 'b'), vacuum('v'), merge('m'), reader('r'));
	},
	'VACUUM, a merge, an inserter, a reader' => sub {
		all_orders(state_with(log0 => 'd', im0 => 'd', cu0 => 1),
			vacuum('v'), inserter('i', 'b'), merge('m'), reader('r'));
	},
	'VACUUM and two readers' => sub {
		all_orders(state_with(log0 => 'd', tree => 'b', done => 'b', gate => 1),
			vacuum('v'), reader('q'), reader('r'));
	},
	'two inserters of one key, a merge' => sub {
		all_orders(state_with(log0 => 'b', done => 'b'),
			unique_inserter('i', 'a'), unique_inserter('j', 'c'), merge('m'));
	});

for my $name (sort keys %scenes)
{
	my ($bad, $n) = $scenes{$name}->();

	is($bad, '', "$name: right in all $n states");
}

my $writes = 'inserters, a merge, a reader';
my $dies = 'VACUUM, a merge, a reader';

for (
	[ $writes, 'append behind seal' ],
	[ $writes, 'end of the log unread' ],
	[ $writes, 'leaf before delta', 'no restart' ],
	[ $dies, 'no removal counter' ],
	[ $dies, 'metapage before merge lock' ],
	[ $dies, 'tree before log' ],
	[ $dies, 'no gate' ],
	[ 'VACUUM, a merge, an inserter, a reader', 'no removal counter' ],
	[ 'VACUUM, a merge, an inserter, a reader', 'tree before log' ],
	[ 'VACUUM, a merge, an inserter, a reader', 'end of the log unread' ],
	[ 'VACUUM and two readers', 'gate not read again', 'no first wait' ],
	[ 'two inserters of one key, a merge', 'appends see nothing new' ])
{
	my ($scene, @without) = @$_;
	my ($bad);

	%mutant = map { $_ => 1 } @without;
	($bad) = $scenes{$scene}->();
	ok($bad, "not so with '" . join("' and '", @without) . "': $bad");
}
done_testing();
