/** Which executions an agent reaches. */
import { type Sql, sql } from '../../driver/index.js';
import { type Reach, within } from '../../engine/sql.js';

export const executionsWithin = (reach: Reach): Sql => within(reach, sql`e.agent_id`, sql`e.trajectory_id`);
