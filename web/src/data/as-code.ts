/** A call as a command or as code, for people who want to repeat it. */
import { operations } from 'virtual:operations';
import type { Operation } from './api.js';

interface Where {
  readonly origin: string;
  readonly hasKey: boolean;
  readonly tenant: string;
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf(name: Operation, input: Record<string, unknown>, { origin, hasKey, tenant }: Where): string {
  const [method, template] = operations[name]!;
  const rest = { ...input };
  const path = template.replace(/\{(\w+)\}/g, (_, member: string) => {
    const value = member === 'project_id' ? tenant : String(rest[member]);
    delete rest[member];
    return encodeURIComponent(value);
  });
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  const inQuery = method === 'GET' || method === 'DELETE';
  const query = new URLSearchParams(
    given.map(([key, value]): [string, string] => [
      key,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  );
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quote(`${origin}${path}${inQuery && given.length > 0 ? `?${query}` : ''}`)}`,
    ...(hasKey ? [`-H "Authorization: Bearer $CAIRN_KEY"`] : []),
    ...(!inQuery && given.length > 0
      ? [`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(Object.fromEntries(given)))}`]
      : []),
  ];
  return lines.join(' \\\n  ');
}

export function typescriptOf(name: Operation, input: Record<string, unknown>): string {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const text = Object.keys(given).length === 0 ? '' : JSON.stringify(given, null, 2).replace(/"(\w+)":/g, '$1:');
  return `const answer = await cairn.${name}(${text});`;
}
