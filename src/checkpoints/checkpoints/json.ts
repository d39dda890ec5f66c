/** A checkpoint as the text of a file, so that two versions of it differ in few lines. */
import { stableJson } from '../../kernel/contract.js';
import { parseAs } from '../../kernel/index.js';
import { type Checkpoint, checkpoint } from './model.js';

/** Checked on the way out as on the way in: what is written can be read. */
export const checkpointText = (value: Checkpoint): string =>
  stableJson(checkpoint, parseAs(checkpoint, value, `checkpoint ${value.id}`));
