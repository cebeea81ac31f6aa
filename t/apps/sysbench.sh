#!/bin/bash
# sysbench: OLTP with a secondary index, prepared statements, updates of the indexed column.
set -e
bench=(sysbench oltp_read_write --db-driver=pgsql --pgsql-host="$PGHOST" --pgsql-port="$PGPORT"
	--pgsql-user="$PGUSER" --pgsql-db="$PGDATABASE" --tables=2 --table-size=5000 --threads=2
	--events=300 --time=0 --rand-seed=1)
echo "version: $(sysbench --version | sed 's/sysbench //')"
"${bench[@]}" prepare | grep -c 'Creating a secondary index'
"${bench[@]}" run | grep -E '^ *transactions: ' | awk '{ print "transactions", ($2 >= 300) }'
psql -X -At -c "SELECT count(*), min(id) FROM sbtest1" -c "SELECT count(k) > 0 FROM sbtest1
	WHERE k BETWEEN 2000 AND 3000"
