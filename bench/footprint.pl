# bench/footprint.sh: the statements to count, and the sums of what callgrind_annotate prints.
#
#	footprint.pl statements kind n rows		n of that kind, a line each, on stdout
#	footprint.pl sums						stdin: instructions, misses; the same of the access methods
use strict;
use warnings;

# arguments and text; without arguments: 100 rows from a random id on
my %known = (
	point => [ 'int', 'select c from s where id = $1' ],
	range => [ '', 'select c from s where id between $1 and $2' ],
	sum => [ '', 'select sum(k) from s where id between $1 and $2' ],
	order => [ '', 'select c from s where id between $1 and $2 order by c' ],
	distinct => [ '', 'select distinct c from s where id between $1 and $2 order by c' ],
	update_index => [ 'int', 'update s set k = k + 1 where id = $1' ],
	update => [ 'int, text', 'update s set c = $2 where id = $1' ],
	delete => [ 'int', 'delete from s where id = $1' ],
	insert => [ 'int, int, text, text', 'insert into s values ($1, $2, $3, $4)' ]);

my $rows;

sub any
{
	return 1 + int rand shift;
}

# One execution, of that id or of a random one
sub execution
{
	my ($name, $id) = (@_, any($rows - 99));
	my $more = { '' => ', ' . ($id + 99), 'int' => '', 'int, text' => ", '$id'",
		'int, int, text, text' => ", $id, 'a', 'b'" }->{$known{$name}[0]};
	return "execute s_$name($id$more)\n";
}

sub transaction
{
	my $id = any($rows);
	return join '', "begin\n", (map { execution('point') } 1 .. 10),
		(map { execution($_) } qw(range sum order distinct update_index update)),
		execution('delete', $id), execution('insert', $id), "commit\n";
}

# Several statements that count as one
my $appended = 0;
my %several = (
	transaction => \&transaction,
	append => sub { return execution('insert', $rows + ++$appended) },
	beside => sub { return execution('insert', $rows + ++$appended) . execution('point') });

sub statements
{
	my ($kind, $n) = @_;
	srand 7;
	print "prepare s_$_(" . ($known{$_}[0] || 'int, int') . ") as $known{$_}[1]\n" for sort keys %known;
	print $several{$kind} ? $several{$kind}->() : execution($kind) for 1 .. $n;
	return;
}

sub sums
{
	my @sum = (0) x 4;
	while (<STDIN>)
	{
		# a function: instructions, reads, writes, misses of instructions, ...; a dot or 0 for none
		next unless /:/ && /^ *[\d,]+ \(/;
		my @n;
		push @n, $1 // 0 while /([\d,]+) \( *[\d.]+%\)|(?<= )[0.](?= )/g;
		next if @n < 4 || /PROGRAM TOTALS/;
		tr/,//d for @n;
		for my $i (0, /surfidx\.so|_bt_|:bt[a-z]/ ? 2 : ())
		{
			$sum[$i] += $n[0];
			$sum[ $i + 1 ] += $n[3];
		}
	}
	print "@sum\n";
	return;
}

my $what = shift @ARGV;
if ($what eq 'statements')
{
	$rows = $ARGV[2];
	statements(@ARGV);
}
else
{
	sums();
}
