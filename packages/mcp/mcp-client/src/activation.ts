/**
 * Keeps the activation of an entry interruptible while it waits for its first connection, and an edit that fails
 * from ending the host.
 *
 * Cordis waits for a running `apply` before it ends or replaces the fiber or a service that it depends on, and forgets
 * an edit that arrives meanwhile. A first connection can take a minute, so each of these has to cut it short. It also
 * drops the promise of the restart that an edit brings about: its rejection would be nobody's (decision 0004).
 */
import type { Context } from '@deepseek-ai/cordis'

/**
 * Wait for `start`; when the fiber is disposed, its configuration edited or one of its services lost meanwhile, call
 * `interrupt`, which must make `start` settle. An edited fiber is restarted with its new configuration; one that lost
 * a service is restarted by Cordis when there is another.
 */
export async function activate(
  ctx: Context,
  start: () => Promise<void>,
  interrupt: () => void,
): Promise<void> {
  const { fiber } = ctx
  const configuration: unknown = fiber._config
  // Which services the fiber runs on.
  const epochOf = () => fiber['_runner'].epoch
  const epoch = epochOf()
  const isEdited = () => fiber.uid !== null && fiber._config !== configuration
  // Holds for as long as the activation does: the next edit. The fiber reports a failure itself.
  ctx.on('internal/update', (_config, _noSave, next) => {
    Promise.resolve(next()).catch(() => {})
  })
  const watches = [
    ctx.on('internal/plugin', (changed) => {
      if (changed === fiber && fiber.uid === null) interrupt()
    }),
    ctx.on('internal/service', () => {
      if (epochOf() !== epoch) interrupt()
    }),
    // Declared by the loader, which a host need not have. It comes just before an edit, and also for an entry
    // that only stands in a file that was read again.
    ctx.on(
      'loader/partial-dispose' as 'internal/plugin',
      ((entry: { fiber?: unknown }) => {
        if (entry.fiber === fiber) queueMicrotask(() => isEdited() && interrupt())
      }) as (changed: unknown) => void,
    ),
  ]
  try {
    await start()
  } finally {
    for (const unwatch of watches) unwatch()
    // Once the fiber has taken notice of the end of this activation. It reports a failure itself, and one that
    // is disposed by then needs no restart.
    if (isEdited()) setImmediate(() => void fiber.restart().catch(() => {}))
  }
}
