/** Keys of the tenant: create one (its secret is shown once), revoke one. */
import type { CreatedKey, Key } from 'cairndb/client';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useSession } from '../../app/session.js';
import { useCall, useChange } from '../../data/api.js';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/kinds.js';
import { Panel } from '../../ui/layout.js';
import { Confirm, Dialog } from '../../ui/overlays.js';
import { Answer, Command, Empty, ErrorBox } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { Entity, Id, Time } from '../../ui/text.js';

type Role = Key['role'];

const roles: readonly (readonly [Role, string])[] = [
  ['read', 'read: sees everything, changes nothing'],
  ['write', 'write: for agents and applications'],
  ['admin', 'admin: also keys, settings and erasure'],
];

function NewKey({ isFirst, onClose }: { isFirst: boolean; onClose: () => void }): ReactNode {
  const create = useChange('keys.create');
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>(isFirst ? 'admin' : 'write');
  const [agent, setAgent] = useState('');
  const [user, setUser] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({
      role,
      ...(name ? { name } : {}),
      ...(agent ? { agent_id: agent } : {}),
      ...(user ? { user_id: user } : {}),
    });
  };
  if (create.data) return <Secret created={create.data} onClose={onClose} />;
  return (
    <Dialog title="Create a key" onClose={onClose}>
      {isFirst && (
        <p className="store-warning">
          This store has no keys yet, so everyone on this machine may use it. With the first key, every request needs
          one: create an admin key first, and keep it.
        </p>
      )}
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>Name, for people</span>
          <input className="input" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <label className="field">
          <span>Role</span>
          <select className="input" value={role} onChange={(event) => setRole(event.target.value as Role)}>
            {roles.map(([id, text]) => (
              <option key={id} value={id}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>Agent (optional): the key acts for this agent, with its rights</span>
          <input className="input mono" value={agent} onChange={(event) => setAgent(event.target.value)} />
        </label>
        <label className="field">
          <span>User (optional): the key reads and writes for this user alone</span>
          <input className="input mono" value={user} onChange={(event) => setUser(event.target.value)} />
        </label>
        {create.error && <ErrorBox error={create.error} />}
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={create.isPending}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const Secret = ({ created, onClose }: { created: CreatedKey; onClose: () => void }): ReactNode => (
  <Dialog
    title="Copy the key now"
    onClose={onClose}
    footer={
      <Button kind="primary" onClick={onClose}>
        I have copied it
      </Button>
    }
  >
    <p className="muted">The store keeps a hash alone, so this is the only time that the key is shown.</p>
    <Command>{created.key}</Command>
  </Dialog>
);

export function Keys(): ReactNode {
  const { who } = useSession();
  const keys = useCall('keys.list', { order: 'desc' });
  const revoke = useChange('keys.revoke');
  const [dialog, setDialog] = useState<'new' | Key | undefined>();
  const columns: readonly Column<Key>[] = [
    { id: 'name', label: 'Name', cell: ({ name, key_id }) => name ?? <Id id={key_id} /> },
    { id: 'role', label: 'Role', cell: ({ role }) => role },
    { id: 'agent', label: 'Agent', cell: ({ agent_id }) => agent_id && <Entity type="Agent" id={agent_id} /> },
    { id: 'user', label: 'User', cell: ({ user_id }) => user_id },
    { id: 'created', label: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
    { id: 'state', label: 'State', cell: ({ revoked_at }) => <Status status={revoked_at ? 'revoked' : 'active'} /> },
    {
      id: 'revoke',
      label: '',
      cell: (key) =>
        key.revoked_at === null && (
          <Button kind="quiet" onClick={() => setDialog(key)}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <Panel
      title="Keys"
      flush
      actions={
        <Button kind="primary" onClick={() => setDialog('new')}>
          Create a key
        </Button>
      }
    >
      <Answer query={keys}>
        {({ keys: all }) => (
          <>
            {all.length === 0 ? (
              <Empty title="There are no keys" command="npx cairn keys create --role admin">
                Without keys the server serves this machine alone, and everybody on it.
              </Empty>
            ) : (
              <Table label="Keys" columns={columns} rows={all} keyOf={({ key_id }) => key_id} />
            )}
            {dialog === 'new' && <NewKey isFirst={all.length === 0} onClose={() => setDialog(undefined)} />}
          </>
        )}
      </Answer>
      {dialog !== undefined && dialog !== 'new' && (
        <Confirm
          title="Revoke this key"
          action="Revoke"
          isDanger
          onConfirm={() => revoke.mutateAsync({ key_id: dialog.key_id })}
          onClose={() => setDialog(undefined)}
        >
          <p>
            Requests with the key {dialog.name ? <strong>{dialog.name}</strong> : <Id id={dialog.key_id} />} are refused
            from now on, and its open streams end. This cannot be undone.
          </p>
          {dialog.key_id === who.key_id && <p className="store-warning">It is the key that you are signed in with.</p>}
        </Confirm>
      )}
    </Panel>
  );
}
