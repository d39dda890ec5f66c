// A thread of the product that counts its statements.
import { workerData } from 'node:worker_threads';
import { SqliteConnection } from '#cairn/driver/index.js';
import { countSqlite } from './tally.mjs';

countSqlite(SqliteConnection);
await import(workerData.tally.module);
