#!/bin/bash
# Order-preserving key compression (Zhang et al., SIGMOD 2020, section 6.1): six schemes by the size
# of their dictionary: rate, time to encode, memory of the dictionary, time to build it.  FSST, which
# keeps no order, stands beside them.
#
#	bench/papers/hope.sh [--entries n] [--limits "n..."] [--files "file..."] [--out directory]
#
#	--entries n		keys of each set (default 300000)
#	--limits		intervals of a dictionary (default "1024 4096 16384 65536"; Single has 257,
#					Double 65,793)
#	--files			sets of your own, one key a line, beside those that are made up: the authors'
#					samples are datasets/urls.txt and wikis.txt of github.com/efficient/HOPE
#	--out directory	of the TSV and the charts (default build/papers)
#
# The paper has 25 million e-mails (host first), 14 million titles of Wikipedia, 25 million URLs of
# the UK's web of 2007.  Those here are made of syllables in their form, 23, 19 and 45 bytes long
# (bench/core/made.h), so that longer symbols find more to say than in what people have written.  One
# key in ten is in the sample.

cd "$(dirname "$0")/../.." || exit 1
. bench/papers/common.sh

entries=300000
limits="1024 4096 16384 65536"
files=
paper "limits files" "$@"
core_objects "$work"
core_bench "$work" hope
for limit in $limits; do
	# shellcheck disable=SC2086
	"$work/hope" -l "$limit" -n "$entries" $files >"$work/lines"
	for set in $(awk 'NR > 1 && !seen[$1]++ { print $1 }' "$work/lines"); do
		# those of a fixed size once
		awk -v set="$set" -v first="${limits%% *}" -v limit="$limit" -v OFS='\t' '
			NR == 1 { for (i = 2; i <= NF; i++) at[$i] = i }
			NR == 1 && !("interv" in at && "stored" in at && "state" in at) { exit 1 }
			$1 == set && (limit == first || ($2 != "Single" && $2 != "Double")) {
				x = $at["interv"]
				print $2, x, "rate", $at["bits"] == "nan" ? $at["rate"] : $at["bits"]
				print $2, x, "encode, ns a byte", $at["enc"]
				print $2, x, "decode, ns a byte", $at["dec"]
				print $2, x, "dictionary, kB", $at["state"]
				print $2, x, "dictionary as stored, kB", $at["stored"] / 1024
				print $2, x, "build, ms", $at["build"]
			}' "$work/lines" | ours "$set"
	done
done
theirs
# the authors' samples are of the keys of their figures
for pair in URLs:urls_txt titles:wikis_txt; do
	awk -F '\t' -v OFS='\t' -v from="${pair%:*}" -v to="${pair#*:}" '
		{ sample = $1; gsub("[^A-Za-z0-9]", "_", sample) }
		$1 == from && $6 == "theirs" { published[++n] = $0 }
		sample == to { set = $1 }
		END { for (i = 1; set != "" && i <= n; i++) { $0 = published[i]; $1 = set; print } }' \
		"$tsv" >"$work/published"
	cat "$work/published" >>"$tsv"
done
for set in $(awk -F '\t' 'NR > 1 && !seen[$1]++ { print $1 }' "$tsv"); do
	for metric in rate "encode, ns a byte" "dictionary, kB" "build, ms"; do
		show "$set" "$metric"
		draw "$set" "$metric" "intervals of the dictionary" "$([[ $metric = rate ]] && echo x || echo xy)"
	done
done
echo "# $tsv, $SECONDS s"
