/** A model that holds memory. */
export interface Resident {
  id: string;
  bytes: number;
  /** It loads, or something runs on it: it is never taken from memory (WIRE B2). */
  busy: boolean;
  pinned: boolean;
  /** Time of its last use, on any clock; the least is the first to go. */
  lastUsed: number;
}

/** A model that is to be loaded. */
export interface WantedModel {
  id: string;
  bytes: number;
}

/** What the budget means for one wanted model. */
export interface Admission {
  /** It fits once the victims, all idle, are gone; false: it waits. */
  now: boolean;
  /** Who makes room for it. The busy ones among them give no new seats, so that they become idle. */
  victims: string[];
}

/**
 * Who may be loaded and who has to go, for models that wait in this order. The first gets room from the least recently
 * used ones, idle before busy. Later ones share what is left, and never take what those before them wait for: whoever
 * stands first has his turn as soon as the rows of his victims have ended.
 */
export function planResidency(
  budget: number,
  residents: readonly Resident[],
  waiting: readonly WantedModel[],
): Map<string, Admission> {
  const plan = new Map<string, Admission>();
  let kept = residents.filter(({ pinned }) => !pinned);
  /** Free at this moment, and once the victims so far are gone and those before are loaded. */
  let now = budget - bytesOf(residents);
  let future = now;
  for (const { id, bytes } of waiting) {
    const victims = victimsFor(bytes - future, kept);
    if (victims === null) {
      plan.set(id, { now: false, victims: [] });
      continue;
    }
    const freed = bytesOf(victims);
    const loads = now + freed >= bytes && victims.every(({ busy }) => !busy);
    kept = kept.filter((resident) => !victims.includes(resident));
    future += freed - bytes;
    if (loads) now += freed - bytes;
    plan.set(id, { now: loads, victims: victims.map((victim) => victim.id) });
  }
  return plan;
}

/** Idle models to be unloaded, least recently used first, where more is resident than the budget has. The last one stays. */
export function surplus(budget: number, residents: readonly Resident[]): string[] {
  let over = bytesOf(residents) - budget;
  const gone: string[] = [];
  for (const { id, bytes } of inTurn(residents.filter(({ busy, pinned }) => !busy && !pinned))) {
    if (over <= 0 || gone.length === residents.length - 1) break;
    over -= bytes;
    gone.push(id);
  }
  return gone;
}

/** Null: all of them together hold less. */
function victimsFor(missing: number, candidates: readonly Resident[]): Resident[] | null {
  const victims: Resident[] = [];
  let lacks = missing;
  for (const candidate of inTurn(candidates)) {
    if (lacks <= 0) break;
    victims.push(candidate);
    lacks -= candidate.bytes;
  }
  if (lacks > 0) return null;
  // Those that a later, larger one made needless stay.
  return victims.filter(({ bytes }) => {
    if (lacks + bytes > 0) return true;
    lacks += bytes;
    return false;
  });
}

function inTurn(residents: readonly Resident[]): Resident[] {
  return [...residents].sort((a, b) => Number(a.busy) - Number(b.busy) || a.lastUsed - b.lastUsed);
}

export function bytesOf(models: readonly { bytes: number }[]): number {
  return models.reduce((sum, { bytes }) => sum + bytes, 0);
}
