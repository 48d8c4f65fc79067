import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { openGate } from '../src/gate.ts'

/** A driver that passes the gate, says so, and then works until it is killed. */
function driver(address: string, scenario: string): ChildProcessWithoutNullStreams {
  const gate = new URL('../src/gate.ts', import.meta.url).href
  const program = `
    const { passGate } = await import(${JSON.stringify(gate)})
    const isWanted = await passGate(${JSON.stringify(address)}, ${JSON.stringify(scenario)})
    console.log(isWanted ? 'in' : 'out')
    if (isWanted) setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

it('lets as many in as there are slots, and the next when one is gone, killed or not', async () => {
  await using gate = await openGate(1, () => true)
  const first = driver(gate.address, 'a')
  await once(first.stdout, 'data')
  const second = driver(gate.address, 'b')
  const entered = once(second.stdout, 'data')
  const outcome = await Promise.race([
    entered.then(() => 'in'),
    new Promise((resolve) => setTimeout(resolve, 500, 'waiting')),
  ])
  expect(outcome).toBe('waiting')
  first.kill('SIGKILL')
  expect(String((await entered)[0])).toBe('in\n')
  second.kill('SIGKILL')
  await once(second, 'exit')
})

it('sends away who is not wanted, without a slot', async () => {
  await using gate = await openGate(0, (scenario) => scenario !== 'b')
  const unwanted = driver(gate.address, 'b')
  const [output, exit] = await Promise.all([once(unwanted.stdout, 'data'), once(unwanted, 'exit')])
  expect(String(output[0])).toBe('out\n')
  expect(exit).toEqual([0, null])
})
