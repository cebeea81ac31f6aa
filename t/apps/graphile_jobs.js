// graphile-worker: its migrations, jobs with keys, queues and priorities, jobs that fail.
// Connects as libpq's variables say.
'use strict';
const { Pool } = require('pg');
const { Logger, makeWorkerUtils, runOnce } = require('graphile-worker');
const pgPool = new Pool({ host: process.env.PGHOST, port: +process.env.PGPORT,
	user: process.env.PGUSER, database: process.env.PGDATABASE, max: 8 });
const logger = new Logger(() => () => {});

async function main()
{
	console.log('version:', require('graphile-worker/package.json').version);
	const utils = await makeWorkerUtils({ pgPool, logger });
	const done = [];
	let failures = 0;

	await utils.migrate();
	for (let i = 0; i < 300; i++)
		await utils.addJob(i % 30 ? 'work' : 'stumble', { i },
			{ jobKey: `key ${i % 200}`, priority: i % 5, queueName: i % 3 ? undefined : `queue ${i % 4}`,
				maxAttempts: i % 30 ? 25 : 1 });
	await utils.addJob('work', { i: 999 }, { runAt: new Date('2100-01-01'), jobKey: 'later' });
	const count = async what => (await pgPool.query(
		`SELECT count(*)::int AS n FROM graphile_worker.jobs WHERE ${what}`)).rows[0].n;
	console.log('jobs', await count('true'), 'with the fifth priority', await count('priority = 4'));
	const options = { pgPool, logger, concurrency: 4, taskList: {
		work: async payload => { done.push(payload.i); },
		stumble: async () => { failures++; throw new Error('on purpose'); } } };
	await runOnce(options);
	console.log('done', done.length, 'distinct', new Set(done).size, 'failed', failures);
	console.log('left', await count('true'), 'with an error', await count('last_error IS NOT NULL'));
	const { rows } = await pgPool.query('SELECT id FROM graphile_worker.jobs WHERE last_error IS NOT NULL ORDER BY id');
	await utils.completeJobs(rows.slice(0, 2).map(r => r.id));
	await utils.permanentlyFailJobs(rows.slice(2, 3).map(r => r.id), 'enough');
	console.log('left', await count('true'), 'for good', await count('attempts >= max_attempts'));
	await utils.release();
	await pgPool.end();
}

main().catch(e => { console.error(e); process.exit(1); });
