# Sourced: a line for each thing that was tried; $failed is 1 once one of them is not as told.

failed=0

# says what wanted got
says()
{
	if [ "$3" = "$2" ]; then
		echo "$1: ok"
	else
		printf '%s: NOT as told: %s\n' "$1" "$3"
		failed=1
	fi
}
