import type * as Configuration from '../../config/index.js';
import type { DeclaredSettings } from '../../config/index.js';
import { EXIT } from '../exit-codes.js';
import { printList } from '../listing.js';
import type { Session } from '../session.js';
import { plainText } from '../terminal-text.js';

/** A configuration that a service can be started with, and what its extensions declare. */
interface Checked {
  config: typeof Configuration;
  declared: DeclaredSettings[];
}

/** `lmsp config show`: what a service that is started here would be told. */
export async function showConfig(session: Session, { origin }: { origin?: boolean }): Promise<number> {
  const checked = await loadChecked(session);
  if (checked === null) return EXIT.failed;
  await printList(
    session,
    { object: 'list', data: checked.config.describeSettings(undefined, checked.declared) },
    {
      SETTING: ({ key }) => key,
      VALUE: ({ value }) => String(value),
      ...(origin === true && { ORIGIN: ({ origin: from }: { origin: string }) => from }),
    },
    ({ key }) => key,
  );
  return EXIT.done;
}

/** `lmsp config check`: every problem at once, those of extensions and of their settings included. */
export async function checkConfig(session: Session): Promise<number> {
  const checked = await loadChecked(session);
  if (checked === null) return EXIT.failed;
  const { configWarnings, loadConfig } = checked.config;
  for (const { key, reason } of configWarnings(loadConfig())) session.terminal.note(`${key}: ${reason}`);
  session.terminal.aside('the configuration is valid');
  return EXIT.done;
}

/** Null when no service would start with it; every problem has then been told, each on its line. */
async function loadChecked({ terminal }: Session): Promise<Checked | null> {
  const config = await import('../../config/index.js');
  const { StartRefused } = await import('../../errors/index.js');
  try {
    const declared = await declaredSettings(config.loadConfig());
    config.loadConfig(undefined, declared);
    return { config, declared };
  } catch (error) {
    if (!(error instanceof config.ConfigInvalid || error instanceof StartRefused)) throw error;
    terminal.note(`lmsp: ${plainText(error.message)}`);
    return null;
  }
}

/** The framework, which extensions need, is loaded where there are some. */
async function declaredSettings(config: Configuration.Config): Promise<DeclaredSettings[]> {
  if (config.extensions.length === 0) return [];
  const { checkExtensions, claimsOfService, declaredBy, loadExtensions } = await import('../../extensions/index.js');
  const { serviceVersion } = await import('../../config/index.js');
  const extensions = await loadExtensions(config);
  checkExtensions(extensions, claimsOfService([], []), serviceVersion());
  return declaredBy(extensions);
}
