/**
 * Lets a few drivers at a time work, although the suite starts all of them at once.
 *
 * The runner is the gate's server. A driver connects, says its scenario, and waits for one word. Invariant: a
 * slot is free again when the driver's connection is closed, however the driver ended.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** The environment variable that tells a driver where the gate is. */
export const GATE_VARIABLE = 'DSH_MCP_CONFORMANCE_GATE'

/** An open gate. */
export interface Gate extends AsyncDisposable {
  /** What {@link GATE_VARIABLE} has to be. */
  readonly address: string
}

/**
 * Open a gate.
 *
 * @param slots - drivers that may work at the same time, at least 1.
 * @param isWanted - whether a scenario is to be driven at all; the driver of another one ends at once.
 */
export async function openGate(slots: number, isWanted: (scenario: string) => boolean): Promise<Gate> {
  const waiting: Socket[] = []
  let free = slots
  const admit = () => {
    while (free > 0 && waiting.length > 0) {
      const next = waiting.shift()!
      if (next.destroyed) continue
      free--
      next.once('close', () => {
        free++
        admit()
      })
      next.write('go')
    }
  }
  const server = createServer((socket) => {
    // A driver that was killed resets its connection.
    socket.on('error', () => {})
    socket.once('data', (scenario) => {
      if (isWanted(scenario.toString())) {
        waiting.push(socket)
        admit()
      } else {
        socket.end('skip')
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: String((server.address() as AddressInfo).port),
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * Wait for a slot; it is held until this process ends.
 *
 * @param address - the value of {@link GATE_VARIABLE}; without one there is nothing to wait for.
 * @returns whether the scenario is to be driven.
 */
export async function passGate(address: string | undefined, scenario: string): Promise<boolean> {
  if (address === undefined) return true
  const socket = connect(Number(address), '127.0.0.1')
  socket.write(scenario)
  const [word] = (await once(socket, 'data')) as [Buffer]
  socket.unref()
  return word.toString() === 'go'
}
