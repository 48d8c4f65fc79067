#!/usr/bin/env -S node --expose-internals
/** The program: wires the process to the command line, and ends the process when the command has ended. */
import { enableCompileCache } from 'node:module'
import { watchSignals } from './interrupt.ts'
import { Output } from './output.ts'
import { guardStdout } from './stdout-guard.ts'

/** How long a plugin that left something open may keep the process from ending by itself, in ms. */
const LINGER_MS = 500

// Compiling the host, the SDK and the console takes a third of a start. What follows is imported with the cache on.
enableCompileCache()
const { main } = await import('./program.ts')

const stdout = guardStdout()
// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
const interrupt = watchSignals()
process.exitCode = await main(process.argv.slice(2), {
  output: new Output(stdout, process.stderr, process.env),
  stdin: process.stdin,
  interrupt: interrupt.signal,
  isInteractive: process.stdin.isTTY && process.stdout.isTTY,
})
interrupt.release()
setTimeout(() => process.exit(), LINGER_MS).unref()
