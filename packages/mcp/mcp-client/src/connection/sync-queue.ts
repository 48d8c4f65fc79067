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
  #waiting: { generation: Generation; promise: Promise<void> } | undefined

  /** @param sync - brings the catalog up to what one generation lists. */
  constructor(sync: (generation: Generation) => Promise<void>) {
    this.#sync = sync
  }

  /** Ask for a sync; settles with the one that serves the request. */
  request(generation: Generation): Promise<void> {
    if (this.#running === undefined) return this.#run(generation)
    if (this.#waiting === undefined) {
      const next = () => this.#run(this.#waiting!.generation)
      this.#waiting = { generation, promise: this.#running.then(next, next) }
    }
    this.#waiting.generation = generation
    return this.#waiting.promise
  }

  /** Settles when nothing runs or waits any more. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch(() => {})
  }

  #run(generation: Generation): Promise<void> {
    this.#waiting = undefined
    const running = this.#sync(generation).finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }
}
