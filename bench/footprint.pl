# bench/footprint.sh: the statements to count, and the sums of what callgrind_annotate prints.
#
#	footprint.pl statements kind n rows		n of that kind, a line each, on stdout
#	footprint.pl everyday					the kinds of statements of a shop, planned each time
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

# What applications ask of a shop (everyday.sql); {name}: a constant of %constant
my $new = 1_000_000;
my $of_customer = 'FROM orders WHERE customer_id = {customer}';
my %everyday = (
	customer => 'SELECT * FROM customers WHERE id = {customer}',
	last10 => "SELECT * $of_customer ORDER BY created DESC LIMIT 10",
	since => "SELECT * $of_customer AND created >= {time}",
	count => "SELECT count(*) $of_customer",
	latest => "SELECT max(created) $of_customer",
	exists => "SELECT exists(SELECT $of_customer)",
	groups => "SELECT status, count(*) $of_customer GROUP BY status",
	queue => q(SELECT * FROM orders WHERE status = 'open' ORDER BY created LIMIT 20),
	queue_since => q(SELECT * FROM orders WHERE status = 'paid' AND created >= {time} )
		. 'ORDER BY created LIMIT 20',
	hour => 'SELECT * FROM orders WHERE created BETWEEN {hour}',
	hour_sum => 'SELECT sum(total) FROM orders WHERE created BETWEEN {hour}',
	hour_status => q(SELECT * FROM orders WHERE status = 'open' AND created BETWEEN {hour}),
	keyset => 'SELECT * FROM orders WHERE id > {order} ORDER BY id LIMIT 50',
	rows_before => 'SELECT * FROM orders WHERE (created, id) < ({time}, {order}) '
		. 'ORDER BY created DESC, id DESC LIMIT 20',
	newest => 'SELECT * FROM orders ORDER BY created DESC LIMIT 10',
	list => 'SELECT * FROM orders WHERE id IN ({order}, {order}, {order}, {order}, {order})',
	either => 'SELECT * FROM orders WHERE id = {order} OR id = {order}',
	join2 => 'SELECT * FROM customers c JOIN orders o ON o.customer_id = c.id WHERE c.id = {customer}',
	join_items => 'SELECT * FROM orders o JOIN items i ON i.order_id = o.id '
		. 'WHERE o.customer_id = {customer} AND o.created >= {time}',
	join_hour => 'SELECT c.name, o.total FROM orders o JOIN customers c ON c.id = o.customer_id '
		. 'WHERE o.created BETWEEN {hour}',
	new_order => q(INSERT INTO orders VALUES ({new}, {customer}, {time}, 'open', 5, 'x')),
	pay => q(UPDATE orders SET status = 'paid' WHERE id = {order}),
	rename => q(UPDATE customers SET name = 'y' WHERE id = {customer}),
	cancel => 'DELETE FROM items WHERE order_id = {order}');

# The timestamp of a minute of 2024
sub at
{
	my $minute = shift;
	my ($day, $month) = (int($minute / 1440), 0);
	my @days = (31, 29, 31, 30, 31);
	$day -= $days[ $month++ ] while $day >= $days[$month];
	return sprintf q('2024-%02d-%02d %02d:%02d'), $month + 1, $day + 1,
		int($minute / 60) % 24, $minute % 60;
}

my %constant = (
	customer => sub { any(20_000) },
	order => sub { any(190_000) },
	new => sub { ++$new },
	time => sub { at(any(190_000)) },
	hour => sub { my $from = any(190_000); at($from) . ' AND ' . at($from + 60) });

sub filled
{
	my $text = shift;
	$text =~ s/[{](\w+)[}]/$constant{$1}->()/ge;
	return $text;
}

sub statements
{
	my ($kind, $n) = @_;
	srand 7;
	if ($everyday{$kind})
	{
		print filled($everyday{$kind}), "\n" for 1 .. $n;
		return;
	}
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
if ($what eq 'everyday')
{
	print join(' ', sort keys %everyday) . "\n";
}
elsif ($what eq 'statements')
{
	$rows = $ARGV[2];
	statements(@ARGV);
}
else
{
	sums();
}
