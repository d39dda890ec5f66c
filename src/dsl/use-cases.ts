/** The use cases of dsl, by group and verb of the table of operations. */
import { format, parse, validate } from './language/service.js';
import { exportTenant } from './plans/export.js';
import { apply, plan } from './plans/service.js';

export const useCases = { dsl: { validate, parse, format, plan, apply, export: exportTenant } };
