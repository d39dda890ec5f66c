// What is measured, by name, in the order of the table. An item is loaded when it runs, since it needs what is built.

const item =
  (file, name = file) =>
  async (options) =>
    (await import(`./${file.replaceAll('_', '-')}.mjs`))[name](options);

export const items = {
  appends: item('writes', 'appends'),
  packets: item('writes', 'packets'),
  turns: item('turns'),
  sustained: item('sustained'),
  indexed_writes: item('indexed_writes'),
  growth: item('growth'),
  scopes: item('scopes'),
  peers: item('peers'),
  http: item('http'),
  reads: item('reads'),
  search: item('search'),
  vectors: item('vectors'),
  terminal: item('terminal'),
  bytes: item('bytes'),
  memory: item('memory'),
  assembly: item('assembly'),
  checkpoints: item('checkpoints'),
  delegations: item('delegations'),
  locks: item('locks'),
  row_security: item('row_security'),
};

/** They take an hour or more of a quiet machine, so they run only when they are named. */
export const longItems = new Set(['memory']);
