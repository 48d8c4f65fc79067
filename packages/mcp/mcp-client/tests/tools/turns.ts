/** Whether others get their turn while something runs. */

/** How many turns of the event loop went by until `run` was done. */
export async function turnsDuring(run: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isRunning = true
  const count = () => {
    if (!isRunning) return
    turns++
    setImmediate(count)
  }
  setImmediate(count)
  await run()
  isRunning = false
  return turns
}
