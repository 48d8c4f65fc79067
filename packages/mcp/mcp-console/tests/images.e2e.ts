/** The example composition with an attachment store: an image reaches the model that takes images. */
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { run, runJson } from './support.ts'

const cwd = fileURLToPath(new URL('../../../../examples/images', import.meta.url))
const call = ['call', 'mcp__everything__get-tiny-image']

it('is shown to a model that takes images', async () => {
  const { code, stdout } = await run([...call, '--model', 'example/sees'], { cwd })
  expect(stdout).toMatch(/^\[image: image\/png, 20 × 20 pixels, 4,033 bytes\]$/m)
  expect(code).toBe(0)
  const json = await runJson([...call, '--model', 'example/sees'], { cwd })
  expect(json.value).toHaveProperty('content.1.attachment.mediaType', 'image/png')
})

it('is explained to any other', async () => {
  const reads = await run([...call, '--model', 'example/reads'], { cwd })
  expect(reads.stdout).toMatch(/^\[image not shown: .*does not take images\]$/m)
  const unknown = await run(call, { cwd })
  expect(unknown.stdout).toMatch(/^\[image not shown: .*not known which model/m)
})

it('is not asked of a model that is not there', async () => {
  const { code, stderr } = await run([...call, '--model', 'example/none'], { cwd })
  expect(code).toBe(2)
  expect(stderr).toMatch(/^error: cordis\.yml has no model example\/none/m)
})
