/**
 * The one queue that every catalog sync of an entry goes through.
 *
 * Invariants: at most one sync runs and at most one waits; whoever asks while one waits gets that one, since it
 * has not looked at the server yet. A failed sync does not stop the next.
 */
import type { Generation } from './generation.ts'

/** Runs syncs one after the other. */
export class SyncQueue {
  readonly #sync: (generation: Generation) => Promise<void>
  #running: Promise<void> | undefined
  #waiting: ({ generation: Generation } & PromiseWithResolvers<void>) | undefined

  /** @param sync - brings the catalog up to what one generation lists. */
  constructor(sync: (generation: Generation) => Promise<void>) {
    this.#sync = sync
  }

  /** Ask for a sync; settles with the one that serves the request. */
  request(generation: Generation): Promise<void> {
    if (this.#running === undefined) return this.#run(generation)
    this.#waiting ??= { generation, ...Promise.withResolvers<void>() }
    this.#waiting.generation = generation
    return this.#waiting.promise
  }

  /** Settles when nothing runs or waits any more. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch(() => {})
  }

  #run(generation: Generation): Promise<void> {
    this.#running = this.#sync(generation).finally(() => {
      // In one step, so that a request in between neither runs beside the next nor takes its place.
      const next = this.#waiting
      this.#waiting = undefined
      this.#running = undefined
      if (next !== undefined) next.resolve(this.#run(next.generation))
    })
    return this.#running
  }
}
