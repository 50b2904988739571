import { Injectable, type OnModuleInit } from '@nestjs/common';
import { readFact, UnitOfWork, writeFact, type Tx } from '../database/index.js';
import { Notices } from '../notices/index.js';
import { Clock } from './clock.js';

const BEAT_MS = 60_000;

/** The wall clock and the running time may differ by so much before it is a gap. */
const LEAST_GAP_MS = 60_000;

/** More would let a machine that sleeps each night never clean up. */
const LONGEST_HOLD_MS = 3_600_000;

const ALIVE_AT = 'alive_at';
const HELD_MS = 'expiry_held_ms';

/**
 * The time by which things expire (WIRE B6, Clock). Nobody can fetch a result while the service is stopped or the machine
 * asleep, and a clock that is set says nothing about age: so after a gap nothing expires for as long as the gap was, an
 * hour of running time at most. Whatever expires by the wall clock asks here instead of `Date.now()`.
 */
@Injectable()
export class ExpiryClock implements OnModuleInit {
  /** Running time for which nothing expires yet. Nothing ever does before the store has been asked. */
  private holdMs = Infinity;
  /** Wall clock at the last gap, and the running time since then. */
  private baseWallMs = 0;
  private ranMs = 0;
  private seenMonotonicMs = 0;
  private beats: NodeJS.Timeout | null = null;

  constructor(
    private readonly units: UnitOfWork,
    private readonly clock: Clock,
    private readonly notices: Notices,
  ) {}

  /** Epoch milliseconds: what was to be kept until then has expired. 0, when nothing has, while expiry is held back. */
  now(): number {
    const wallMs = this.look();
    return this.holdMs > 0 ? 0 : wallMs;
  }

  /** Running time in milliseconds for which nothing will expire; 0 when expiry is not held back. */
  heldMs(): number {
    this.look();
    return this.holdMs;
  }

  /** Finds out how long the service was away. What was left of an earlier hold goes on. */
  async onModuleInit(): Promise<void> {
    const { aliveAt, heldMs } = await this.units.run(async (tx) => ({
      aliveAt: await readFact(tx, ALIVE_AT),
      heldMs: await readFact(tx, HELD_MS),
    }));
    const wallMs = this.clock.wallMs();
    this.seenMonotonicMs = this.clock.monotonicMs();
    this.rebase(wallMs);
    this.holdMs = Number(heldMs ?? 0);
    if (aliveAt !== null) this.holdFor(Math.abs(wallMs - Number(aliveAt)));
    await this.write();
  }

  /** Notes from now on each minute that the service lives. */
  start(): void {
    this.beats ??= setInterval(() => void this.beat(), BEAT_MS).unref();
  }

  /** Notes it a last time. */
  async stop(): Promise<void> {
    if (this.beats) clearInterval(this.beats);
    this.beats = null;
    await this.write();
  }

  /** One beat; a disk that cannot take it makes the next gap look longer, which keeps things longer. */
  async beat(): Promise<void> {
    await this.write().catch(() => undefined);
  }

  private write(): Promise<void> {
    const wallMs = this.look();
    return this.units.run((tx) => this.note(tx, wallMs));
  }

  private async note(tx: Tx, wallMs: number): Promise<void> {
    await writeFact(tx, ALIVE_AT, String(wallMs));
    await writeFact(tx, HELD_MS, String(Math.ceil(this.holdMs)));
  }

  /** Counts the time that has passed, as running or as a gap; answers with the wall clock. */
  private look(): number {
    const wallMs = this.clock.wallMs();
    const monotonicMs = this.clock.monotonicMs();
    // Where the monotonic clock goes on during a suspend, only a beat that is late tells of it.
    const ranMs = Math.min(monotonicMs - this.seenMonotonicMs, BEAT_MS + LEAST_GAP_MS);
    this.seenMonotonicMs = monotonicMs;
    this.ranMs += ranMs;
    this.holdMs = Math.max(0, this.holdMs - ranMs);
    const gapMs = Math.abs(wallMs - this.baseWallMs - this.ranMs);
    if (gapMs > LEAST_GAP_MS) {
      this.holdFor(gapMs);
      this.rebase(wallMs);
    }
    return wallMs;
  }

  private rebase(wallMs: number): void {
    this.baseWallMs = wallMs;
    this.ranMs = 0;
  }

  private holdFor(gapMs: number): void {
    this.holdMs = Math.max(this.holdMs, Math.min(gapMs, LONGEST_HOLD_MS));
    if (gapMs > LEAST_GAP_MS) this.notices.emit('expiry.held', { gap_ms: gapMs, held_ms: Math.ceil(this.holdMs) });
  }
}
