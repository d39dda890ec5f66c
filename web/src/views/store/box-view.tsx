/** A box: its cards in order. */
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCall, usePages } from '../../data/api.js';
import { integer, textOf } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Kind, Status } from '../../ui/kinds.js';
import { Facts, Page, Panel } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import { Entity, Id, Time } from '../../ui/text.js';

export function View(): ReactNode {
  const { boxId: box_id } = useParams({ strict: false }) as { boxId: string };
  const box = useCall('boxes.load', { box_id, limit: 1 });
  const cards = usePages('boxes.cards', 'cards', { box_id, limit: 100 });
  return (
    <Page
      title="Box"
      about={<Kind kind="box">{box_id}</Kind>}
      actions={<CopyMenu call="boxes.load" input={{ box_id, limit: 1 }} value={box.data} />}
    >
      <Answer query={box}>
        {(data) => (
          <Panel>
            <Facts
              facts={[
                ['Cards', integer(data.length)],
                ['State', data.sealed_at ? <Status key="s" status="sealed" /> : 'open'],
                ['Sealed', data.sealed_at && <Time key="a" at={data.sealed_at} />],
                ['Agent', data.agent_id && <Entity key="g" type="Agent" id={data.agent_id} />],
                ['Forked from', data.forked_from && <Entity key="f" type="Box" id={data.forked_from.box_id} />],
                ['Created', <Time key="c" at={data.created_at} />],
                ['Id', <Id key="i" id={data.box_id} />],
              ]}
            />
          </Panel>
        )}
      </Answer>
      <Panel title="Cards" flush>
        <Answer query={cards.query}>
          {() =>
            cards.items.length === 0 ? (
              <Empty title="The box is empty" />
            ) : (
              <VirtualList
                label="Cards of the box"
                items={cards.items}
                keyOf={({ card_id }) => card_id}
                estimate={72}
                onEnd={cards.loadMore}
                render={({ card_id, content, metadata, created_at }) => (
                  <div className="store-card">
                    <div className="row spread">
                      <Entity type="Card" id={card_id}>
                        {String((metadata as { role?: unknown }).role ?? 'card')}
                      </Entity>
                      <span className="muted small">
                        <Time at={created_at} />
                      </span>
                    </div>
                    <p className="lines-3 prose">{textOf(content)}</p>
                  </div>
                )}
              />
            )
          }
        </Answer>
      </Panel>
    </Page>
  );
}
