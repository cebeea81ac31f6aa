# Sourced by the demos: what they claim is checked, and counted in $wrong where it does not hold.

wrong=0

# good condition text
good()
{
	if [ "$1" = t ]; then
		echo "ok: $2"
	else
		echo "WRONG: $2"
		wrong=$((wrong + 1))
	fi
}
