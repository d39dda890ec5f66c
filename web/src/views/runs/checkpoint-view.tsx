/** A link to a checkpoint leads to its run, at that step. */
import { Navigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { Answer } from '../../ui/states.js';

export function View(): ReactNode {
  const { checkpointId: checkpoint_id } = useParams({ strict: false }) as { checkpointId: string };
  const checkpoint = useCall('checkpoints.get', { checkpoint_id });
  return (
    <div className="page">
      <Answer query={checkpoint}>
        {({ execution_id }) => (
          <Navigate
            to="/runs/$executionId"
            params={{ executionId: execution_id }}
            search={{ step: checkpoint_id } as never}
            replace
          />
        )}
      </Answer>
    </div>
  );
}
