// knex: migrations up, down and up again, constraints, queries, upserts, pages.
// Connects as libpq's variables say.
'use strict';
const knex = require('knex')({ client: 'pg', connection: {
	host: process.env.PGHOST, port: +process.env.PGPORT, user: process.env.PGUSER,
	database: process.env.PGDATABASE } });

const migrations = {
	first: {
		up: db => db.schema
			.createTable('customer', t => {
				t.bigIncrements('id');
				t.string('email').notNullable().unique();
				t.integer('points').index();
			})
			.createTable('purchase', t => {
				t.increments('id');
				t.bigInteger('customer_id').references('customer.id').onDelete('CASCADE').index();
				t.string('sku', 40);
				t.decimal('price', 10, 2);
				t.unique(['customer_id', 'sku']);
				t.index(['sku', 'price'], 'purchase_sku');
			}),
		down: db => db.schema.dropTable('purchase').dropTable('customer')
	},
	second: {
		up: db => db.schema.alterTable('purchase', t => {
			t.dropIndex(['sku', 'price'], 'purchase_sku');
			t.index(['price'], 'purchase_price', { predicate: db.whereRaw('price > 10') });
			t.text('sku').alter();
		}),
		down: db => db.schema.alterTable('purchase', t => {
			t.dropIndex(['price'], 'purchase_price');
			t.index(['sku', 'price'], 'purchase_sku');
		})
	}
};
const config = { migrationSource: {
	getMigrations: async () => Object.keys(migrations),
	getMigrationName: name => name,
	getMigration: async name => migrations[name] } };

async function main()
{
	console.log('version:', require('knex/package.json').version);
	await knex.migrate.latest(config);
	await knex.migrate.rollback(config, true);
	await knex.migrate.latest(config);
	await knex.batchInsert('customer', Array.from({ length: 300 },
		(_, i) => ({ email: `c${i}@example.org`, points: i % 50 })), 100);
	await knex.batchInsert('purchase', Array.from({ length: 3000 },
		(_, i) => ({ customer_id: 1 + i * 7 % 300, sku: `sku-${i}`, price: i % 97 })), 500);
	console.log(await knex('customer').insert({ email: 'c5@example.org', points: 9 })
		.then(() => 'twice', e => e.code));
	console.log(await knex('customer').insert({ email: 'c5@example.org', points: 9 })
		.onConflict('email').merge(['points']).returning(['email', 'points']));
	console.log(await knex('purchase').where('price', '>', 90).count('* as n').first(),
		await knex('purchase').max('price as m').first());
	console.log(await knex('purchase').join('customer', 'customer.id', 'customer_id')
		.select('email').sum('price as s').groupBy('email').orderBy('email').limit(3));
	console.log((await knex('purchase').orderBy('id').offset(2500).limit(3)).map(r => r.sku));
	await knex('customer').where('points', '<', 10).del();
	console.log(await knex('purchase').count('* as n').first());
	console.log(await knex.transaction(async trx => {
		await trx('purchase').update({ price: 1 }).where('sku', 'like', 'sku-1%');
		return trx('purchase').where({ price: 1 }).count('* as n').first();
	}));
	await knex.migrate.down(config);
	console.log(await knex('pg_indexes').where('tablename', 'purchase').count('* as n').first());
}

main().then(() => knex.destroy(), e => { console.error(e); process.exit(1); });
