/** Doctor check of settings. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';

export const settingsChecks: readonly Check[] = [
  {
    name: 'the head row has the revision of the settings',
    broken: () =>
      sql`SELECT 'settings of revision ' || COALESCE(s.revision, 'none') || ', the head row has '
            || COALESCE(t.settings_revision, 'none') AS what FROM tenants t
          LEFT JOIN tenant_settings s ON s.tenant_id = t.tenant_id
          WHERE t.tenant_id = ${TENANT} AND COALESCE(s.revision, '') <> COALESCE(t.settings_revision, '')
          LIMIT ${MAX_EXAMPLES}`,
  },
];
