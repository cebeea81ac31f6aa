#!/bin/bash
# pgbench: its tables with foreign keys and two more indexes, its transactions, and what they have to
# leave behind.
set -e
echo "version: $(pgbench --version | sed 's/.*) //')"
pgbench -q -i -s 1 -I dtgvpf 2>/dev/null
psql -X -q -c "CREATE INDEX ON pgbench_accounts (bid, abalance)" \
	-c "CREATE INDEX ON pgbench_history (aid, mtime DESC)"
for script in tpcb-like simple-update select-only; do
	pgbench -n -b "$script" -t 300 -c 2 --random-seed=1 | grep '^number of transactions actually'
done
psql -X -At -c "SELECT count(*), min(aid), max(aid), count(*) FILTER (WHERE bid = 1) FROM pgbench_accounts" \
	-c "SELECT (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(bbalance) FROM pgbench_branches),
		sum(delta) = (SELECT sum(tbalance) FROM pgbench_tellers), count(*) FROM pgbench_history"
