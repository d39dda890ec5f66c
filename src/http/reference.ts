/** The API reference: one self-contained page, generated from the table. */
import { z } from 'zod';
import { allOperations, type NamedOperation } from '../api/contract.js';
import { inputLocation, inputSchemaOf, operationRoutes, pathParameters } from '../engine/contract.js';
import { errorCodes } from '../kernel/index.js';

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

const codeSpans = (html: string): string => html.replace(/`([^`]+)`/g, '<code>$1</code>');

type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  description?: string;
};

function typeName(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.$ref) return schema.$ref.split('/').at(-1)!;
  if (schema.anyOf) return schema.anyOf.map(typeName).join(' | ');
  if (schema.type === 'array') return `${schema.items ? typeName(schema.items) : 'any'}[]`;
  return schema.format ?? (Array.isArray(schema.type) ? schema.type.join(' | ') : (schema.type ?? 'any JSON'));
}

function fields(operation: NamedOperation, inPath: readonly string[], rest: string): string {
  // A query cannot express null.
  const schema =
    rest === 'body'
      ? inputSchemaOf(operation)
      : z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' });
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Schema>; required?: string[] };
  const rows = Object.entries(properties).map(
    ([name, property]) =>
      `<tr><td><code>${escapeHtml(name)}</code>${required.includes(name) ? ' <b title="required">*</b>' : ''}</td>` +
      `<td>${inPath.includes(name) ? 'path' : rest}</td><td>${escapeHtml(typeName(property))}</td>` +
      `<td>${codeSpans(escapeHtml(property.description ?? ''))}</td></tr>`,
  );
  return rows.length > 0
    ? `<table><tr><th>input</th><th>in</th><th>type</th><th></th></tr>${rows.join('')}</table>`
    : '';
}

function outputs(operation: NamedOperation): string {
  const { properties } = z.toJSONSchema(operation.output, { io: 'output', unrepresentable: 'any' }) as {
    properties?: Record<string, Schema>;
  };
  if (!properties) return operation.status === 204 ? '<p>Answers 204 without a body.</p>' : '';
  const list = Object.entries(properties).map(
    ([name, property]) => `<code title="${escapeHtml(property.description ?? '')}">${escapeHtml(name)}</code>`,
  );
  return `<p>Answers ${operation.status ?? 200}${operation.stream ? ' with a stream' : ''}: ${list.join(', ')}</p>`;
}

/** An example command; without keys it works as it is. */
function curlOf(operation: NamedOperation, base: string): string {
  const inPath = pathParameters(operation.path);
  const rest = Object.entries(operation.example).filter(([name]) => !inPath.includes(name));
  let path = operation.path.replace('{project_id}', 'default');
  for (const name of inPath) path = path.replace(`{${name}}`, encodeURIComponent(String(operation.example[name])));
  const inQuery = inputLocation(operation.method) === 'query';
  const query =
    inQuery && rest.length > 0
      ? `?${new URLSearchParams(rest.map(([name, value]): [string, string] => [name, String(value)]))}`
      : '';
  const method = operation.method === 'GET' ? (operation.stream ? '-N ' : '') : `-X ${operation.method} `;
  const body =
    !inQuery && rest.length > 0
      ? ` \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(Object.fromEntries(rest))}'`
      : '';
  const target = `${base}${path}${query}`;
  return `curl ${method}${/[?&]/.test(target) ? `'${target}'` : target}${body}`;
}

/** Placeholder for the address of the server, replaced when a page is sent. */
const BASE = 'http://cairn.invalid';

function section(operation: NamedOperation): string {
  const inPath = pathParameters(operation.path);
  const also = operationRoutes(operation)
    .slice(1)
    .map(({ method, path }) => `${method === operation.method ? '' : `${method} `}<code>${escapeHtml(path)}</code>`);
  return `<section id="${operation.name}"><h3><span class="m ${operation.method}">${operation.method}</span> <code>${escapeHtml(operation.path)}</code></h3>
<p>${escapeHtml(operation.summary)} <small>${operation.name} · role ${operation.access}${operation.event ? ` · event ${escapeHtml(operation.event)}` : ''}</small></p>
${also.length > 0 ? `<p>Also at ${also.join(', ')}.</p>\n` : ''}${fields(operation, inPath, inputLocation(operation.method))}${outputs(operation)}
<pre>${escapeHtml(curlOf(operation, BASE))}</pre></section>`;
}

const STYLE = `
:root{color-scheme:light dark;--line:#8884;--dim:#888}
body{font:15px/1.5 system-ui,sans-serif;margin:0;display:grid;grid-template-columns:15rem 1fr;max-width:80rem}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.2rem;border-right:1px solid var(--line);box-sizing:border-box}
nav b{display:block;margin-top:1rem}nav a{display:block;color:inherit;text-decoration:none;opacity:.8}nav a:hover{opacity:1}
main{padding:1.2rem 2rem;min-width:0}section{border-top:1px solid var(--line);padding:.6rem 0 1rem}
h3{margin:.4rem 0;font-weight:500}code,pre{font:13px/1.45 ui-monospace,monospace}
pre{background:#8881;padding:.7rem .9rem;border-radius:6px;overflow:auto}small{color:var(--dim)}
table{border-collapse:collapse;width:100%}td:nth-child(1){width:10rem}td:nth-child(2){width:4rem}td:nth-child(3){width:14rem}td,th{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top;border-bottom:1px solid var(--line)}th{color:var(--dim);font-weight:400}
td b{color:#c33}.m{font:600 12px ui-monospace,monospace;padding:.15rem .45rem;border-radius:4px;color:#fff;background:#567}
.POST{background:#2a7d46}.PUT,.PATCH{background:#a56a13}.DELETE{background:#b3383a}.GET{background:#2b6cb0}
@media(max-width:50rem){body{display:block}nav{position:static;height:auto;border:0}}`;

/** The page with the address that its reader used, such as `http://127.0.0.1:9000`. */
export const pageAt = (page: string, base: string): string => page.replaceAll(BASE, escapeHtml(base));

export function referencePage(version: string, table: readonly NamedOperation[] = allOperations): string {
  const groups = [...new Set(table.map(({ group }) => group))];
  const links = groups.map((group) => {
    const entries = table.filter((operation) => operation.group === group);
    return `<b>${group}</b>${entries.map(({ name, verb }) => `<a href="#${name}">${verb}</a>`).join('')}`;
  });
  const codes = Object.entries(errorCodes).map(
    ([code, { status, meaning }]) =>
      `<tr><td>${status}</td><td><code>${code}</code></td><td>${escapeHtml(meaning)}</td></tr>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Cairn ${escapeHtml(version)}: API reference</title><style>${STYLE}</style></head><body>
<nav><strong>Cairn ${escapeHtml(version)}</strong><a href="/openapi.json">openapi.json</a>${links.join('')}<b>errors</b><a href="#errors">all codes</a></nav>
<main><h1>API reference</h1>
<p>Once the store has keys, send <code>Authorization: Bearer &lt;key&gt;</code> or <code>X-API-Key</code>. In a path, <code>{project_id}</code> is your tenant (<code>default</code> without keys). Every write takes an <code>Idempotency-Key</code> header. Required inputs are marked *.</p>
${table.map(section).join('\n')}
<section id="errors"><h2>Errors</h2><p>Every error answer is <code>{"code", "message", "details"?}</code>.</p><table>${codes.join('')}</table></section>
</main></body></html>`;
}
