import { dirname } from 'node:path';
import { editGraph, type EditedGraph, type GraphEdits } from '../../graphs/index.js';
import type { GraphSource, OnnxSession } from './session.js';

/** A graph as it may be opened: edited in memory, or as the file has it. */
export interface GraphForm {
  source: GraphSource;
  /** Null: the file as it is. */
  edited: Pick<EditedGraph, 'logitsPositions'> | null;
}

/** What has been opened, and why that is not the best form; null: it is. */
export interface OpenedForm {
  session: OnnxSession;
  form: GraphForm;
  warning: string | null;
}

/** The forms of a graph file, best first. What cannot be edited is opened as it is: slower, but right. */
export class GraphForms {
  private readonly forms: GraphForm[];
  private fault: string | null = null;

  constructor(path: string, edits: GraphEdits) {
    this.forms = [{ source: { path }, edited: null }];
    try {
      const { bytes, logitsPositions } = editGraph(path, edits);
      this.forms.unshift({ source: { bytes, folder: dirname(path) }, edited: { logitsPositions } });
    } catch (error) {
      this.fault = (error as Error).message;
    }
  }

  /** The first form that `open` takes. Throws what it says of the last one. */
  async open(open: (source: GraphSource) => OnnxSession | Promise<OnnxSession>): Promise<OpenedForm> {
    let { fault } = this;
    for (const form of this.forms.slice(0, -1)) {
      try {
        return { session: await open(form.source), form, warning: null };
      } catch (error) {
        fault = (error as Error).message;
      }
    }
    const form = this.forms.at(-1)!;
    return { session: await open(form.source), form, warning: `the graph is used as its file has it: ${fault}` };
  }
}
