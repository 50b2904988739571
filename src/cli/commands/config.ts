import type * as Configuration from '../../config/index.js';
import { EXIT } from '../exit-codes.js';
import { printList } from '../listing.js';
import type { Session } from '../session.js';
import { plainText } from '../terminal-text.js';

/** `lmsp config show`: what a service that is started here would be told. */
export async function showConfig(session: Session, { origin }: { origin?: boolean }): Promise<number> {
  const config = await loadChecked(session);
  if (config === null) return EXIT.failed;
  await printList(
    session,
    { object: 'list', data: config.describeSettings() },
    {
      SETTING: ({ key }) => key,
      VALUE: ({ value }) => String(value),
      ...(origin === true && { ORIGIN: ({ origin: from }: { origin: string }) => from }),
    },
    ({ key }) => key,
  );
  return EXIT.done;
}

/** `lmsp config check`: every problem at once. */
export async function checkConfig(session: Session): Promise<number> {
  const config = await loadChecked(session);
  if (config === null) return EXIT.failed;
  for (const { key, reason } of config.configWarnings(config.loadConfig())) session.terminal.note(`${key}: ${reason}`);
  session.terminal.aside('the configuration is valid');
  return EXIT.done;
}

/** Null when the environment is no valid configuration; every problem has then been told, each on its line. */
async function loadChecked({ terminal }: Session): Promise<typeof Configuration | null> {
  const config = await import('../../config/index.js');
  try {
    config.loadConfig();
  } catch (error) {
    if (!(error instanceof config.ConfigInvalid)) throw error;
    terminal.note(`lmsp: ${plainText(error.message)}`);
    return null;
  }
  return config;
}
