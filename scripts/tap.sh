# Sourced by scripts whose results are TAP.

tests=0
bad=0

# ok status text [log]: after a failure the log's last lines are shown
ok()
{
	tests=$((tests + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tests - $2"
		return
	fi
	bad=$((bad + 1))
	echo "not ok $tests - $2${3:+: $3}"
	[ -z "$3" ] || tail -n 20 "$3" | sed 's/^/# /'
}

# done_testing: the number of tests, and status 1 after a failure
done_testing()
{
	echo "1..$tests"
	[ "$bad" -eq 0 ]
}
