/** A checkpoint as the text of a file, so that two versions of it differ in few lines. */
import { parseAs } from '../../kernel/issues.js';
import { stableJson } from '../../kernel/stable-json.js';
import { type Checkpoint, checkpoint } from './model.js';

/** Checked on the way out as on the way in: what is written can be read. */
export const checkpointText = (value: Checkpoint): string =>
  stableJson(checkpoint, parseAs(checkpoint, value, `checkpoint ${value.id}`));
