/** A file of a model, with the digest that it must turn out to have. */
export interface ListedFile {
  /** Below the model's folder, parts between slashes; must mean the same on every system. */
  path: string;
  sizeBytes: number;
  digest: FileDigest;
}

/** Large files are known by the SHA-256 of their bytes, others by the SHA-1 that git has for them. Lower-case hex. */
export interface FileDigest {
  algorithm: 'sha256' | 'git-sha1';
  hex: string;
}

/** Where in a file the bytes begin that follow. */
export interface FilePieces {
  from: number;
  pieces: AsyncIterable<Buffer>;
}

/**
 * Strategy: where models are pulled from. `POST /v1/models/pull` names a repository and a revision; what they mean is the
 * source's business. What it says is checked: paths, sizes, digests, the length of each file. Throw SourceInterrupted for what
 * passes (the same is asked again after a pause), DomainError model_not_found, hub_access_denied or hub_answer_invalid for
 * what does not.
 */
export interface ModelSource {
  /** Stable: an address, or a word. Part of the folders that pulled models lie in. */
  readonly name: string;
  /** The version that a revision is now: 40 lower-case hex digits, the same files for ever. */
  commitOf(repository: string, revision: string, signal: AbortSignal): Promise<string>;
  /** Every file of a version. */
  list(repository: string, commit: string, signal: AbortSignal): Promise<ListedFile[]>;
  /** The bytes of a file from a place on; a source that cannot begin there begins at 0 and says so. */
  open(repository: string, commit: string, file: ListedFile, from: number, signal: AbortSignal): Promise<FilePieces>;
}

/** Something that passes: a cut connection, a busy source. The same is asked again after a pause. */
export class SourceInterrupted extends Error {
  constructor(
    reason: string,
    /** What the source asked for. */
    readonly pauseSeconds: number | null = null,
  ) {
    super(reason);
    this.name = 'SourceInterrupted';
  }
}
