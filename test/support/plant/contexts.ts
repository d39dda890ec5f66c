/** Contexts for the generated tests: two manifests of a task of their own. */
import type { Api } from '#cairn/client/index.js';

export async function plantContexts(cairn: Api, secret: string): Promise<Readonly<Record<string, unknown>>> {
  const { trajectory_id } = await cairn.trajectories.create({ name: secret });
  const assemble = (user_input: string) =>
    cairn.context.assemble({ trajectory_id, user_input, instructions: secret, include_notes: false });
  const first = await assemble(secret);
  const second = await assemble(`${secret}, again`);
  return { manifest_id: second.manifest_id, against: first.manifest_id };
}
