import { readdirSync } from 'node:fs'
import type AttachmentStore from '@deepseek-ai/dsh-attachment'
import { images, jpeg, png } from '@dsh-mcp/fixtures'
import type { HostOptions } from '@dsh-mcp/host'
import type { ImageContent } from '@modelcontextprotocol/client'
import { describe, expect, it, vi } from 'vitest'
import { admitImages } from '../../src/tools/images.ts'
import { host } from '../support.ts'

const PNG: ImageContent = { type: 'image', mimeType: 'image/png', data: png }
const JPEG: ImageContent = { type: 'image', mimeType: 'image/jpeg', data: jpeg }
const NOT_AN_IMAGE: ImageContent = { ...PNG, data: Buffer.from('not an image').toString('base64') }
const PNG_BYTES = Buffer.byteLength(png, 'base64')

const SEEING = { options: { provider: 'scripted', model: 'vision' } } as never

async function store(options: HostOptions = {}) {
  const app = await host({ attachments: true, llm: { vision: ['text', 'image'] }, ...options })
  const admit = (batch: readonly ImageContent[], signal = new AbortController().signal) =>
    admitImages(app.ctx, { agent: SEEING, signal }, batch)
  /** How many objects the store holds. */
  const saved = () => {
    try {
      const root = (app.ctx.attachments as AttachmentStore & { root: string }).root
      return readdirSync(`${root}/objects`, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      ).length
    } catch {
      return 0
    }
  }
  return { ...app, ctx: app.ctx, admit, saved }
}

describe('the images of a result', () => {
  it('are in the store, whatever their format', async () => {
    const { ctx, admit, saved } = await store()
    const batch = Object.values(images).map((image) => ({ type: 'image' as const, ...image }))
    const outcomes = await admit(batch)
    expect(saved()).toBe(4)
    for (const [index, outcome] of outcomes.entries()) {
      expect(outcome).toMatchObject({ ref: { mediaType: batch[index]?.mimeType, width: 2, height: 2 } })
      const { data } = await ctx.attachments.readImage((outcome as { ref: never }).ref)
      expect(Buffer.from(data).toString('base64')).toBe(batch[index]?.data)
    }
  })

  it('may be none, which asks nobody', async () => {
    const { admit, ctx } = await store()
    const resolve = vi.spyOn(ctx.llm, 'resolveModelInfo')
    expect(await admit([])).toEqual([])
    expect(resolve).not.toHaveBeenCalled()
  })

  it('may be declared in another spelling', async () => {
    const { admit } = await store()
    const outcomes = await admit([
      { ...JPEG, mimeType: 'image/jpg' },
      { ...PNG, mimeType: 'IMAGE/PNG' },
    ])
    expect(outcomes).toMatchObject([
      { ref: { mediaType: 'image/jpeg' } },
      { ref: { mediaType: 'image/png' } },
    ])
  })
})

describe('an image is refused, and nothing saved,', () => {
  it.each<[string, ImageContent, string, HostOptions?]>([
    [
      'of another type',
      { ...PNG, mimeType: 'image/tiff' },
      'only image/png, image/jpeg, image/webp, image/gif can be shown',
    ],
    [
      'whose type is a prototype',
      { ...PNG, mimeType: '__proto__' },
      'only image/png, image/jpeg, image/webp, image/gif can be shown',
    ],
    ['that is not base64', { ...PNG, data: '?not base64?' }, 'its data is not canonical base64'],
    [
      'that is base64 in lines',
      { ...PNG, data: png.replaceAll(/.{76}/gu, '$&\n') },
      'its data is not canonical base64',
    ],
    ['that is empty', { ...PNG, data: '' }, 'its data is not canonical base64'],
    ['that is none', NOT_AN_IMAGE, 'its data is not a readable image'],
    ['that is cut off', { ...PNG, data: png.slice(0, 96) }, 'its data is not a readable image'],
    [
      'that is another than it says',
      { ...PNG, mimeType: 'image/jpeg' },
      'its data is not of the declared type',
    ],
    [
      'with too many bytes',
      PNG,
      `the attachment store takes at most ${PNG_BYTES - 1} bytes an image`,
      { attachments: { maxImageBytes: PNG_BYTES - 1 } },
    ],
    [
      'with too many pixels',
      PNG,
      'the attachment store takes at most 3 pixels an image',
      { attachments: { maxImagePixels: 3 } },
    ],
    [
      'that is too wide',
      PNG,
      'the attachment store takes at most 1 pixels a side',
      { attachments: { maxImageDimension: 1 } },
    ],
  ])('%s', async (_, image, refusal, options) => {
    const { admit, saved } = await store(options)
    expect(await admit([image])).toEqual([{ refusal }])
    expect(saved()).toBe(0)
  })

  it('when the bytes are one too many, and taken when they are not', async () => {
    const { admit } = await store({
      attachments: { maxImageBytes: PNG_BYTES, maxMessageImageBytes: PNG_BYTES },
    })
    expect(await admit([PNG])).toMatchObject([{ ref: {} }])
  })

  it('without a store', async () => {
    const { admit } = await store({ attachments: false })
    expect(await admit([PNG, PNG])).toEqual([
      { refusal: 'no attachment store is available' },
      { refusal: 'no attachment store is available' },
    ])
  })

  it('for a model that does not take images', async () => {
    const { admit, saved } = await store({ llm: { vision: ['text'] } })
    expect(await admit([PNG])).toEqual([{ refusal: 'the current model does not take images' }])
    expect(saved()).toBe(0)
  })

  it('when the call was cancelled before it was looked at', async () => {
    const { admit, saved } = await store()
    expect(await admit([PNG], AbortSignal.abort())).toEqual([{ refusal: 'the call was cancelled' }])
    expect(saved()).toBe(0)
    const blind = await store({ llm: { vision: ['text'] } })
    expect(await blind.admit([PNG], AbortSignal.abort())).toEqual([{ refusal: 'the call was cancelled' }])
  })

  it('when the call is cancelled while it is looked at', async () => {
    const { admit, saved, ctx } = await store()
    const call = new AbortController()
    const validate = vi.spyOn(ctx.attachments, 'validateImage')
    const cancelling: ImageContent = {
      ...PNG,
      get data() {
        call.abort()
        return png
      },
    }
    const refusal = 'the call was cancelled'
    expect(await admit([PNG, cancelling], call.signal)).toEqual([{ refusal }, { refusal }])
    expect(validate).not.toHaveBeenCalled()
    expect(saved()).toBe(0)
  })
})

describe('one bad image among good ones', () => {
  const OTHER = { refusal: 'another image of this result was refused' }

  it.each<[string, ImageContent, string]>([
    [
      'by its type',
      { ...PNG, mimeType: 'image/bmp' },
      'only image/png, image/jpeg, image/webp, image/gif can be shown',
    ],
    ['by its bytes', NOT_AN_IMAGE, 'its data is not a readable image'],
  ])('that shows %s keeps all of them out', async (_, bad, refusal) => {
    const { admit, saved } = await store()
    expect(await admit([PNG, bad, JPEG])).toEqual([OTHER, { refusal }, OTHER])
    expect(saved()).toBe(0)
  })

  it('has its own reason, and so has the next', async () => {
    const { admit } = await store()
    expect(await admit([{ ...PNG, mimeType: 'image/jpeg' }, PNG, NOT_AN_IMAGE])).toEqual([
      { refusal: 'its data is not of the declared type' },
      OTHER,
      { refusal: 'its data is not a readable image' },
    ])
  })
})

describe('too many images', () => {
  it('by number are all refused', async () => {
    const { admit, saved } = await store({ attachments: { maxImagesPerMessage: 2 } })
    const refusal = 'the attachment store takes at most 2 images at once, and these are 3'
    expect(await admit([PNG, PNG, PNG])).toEqual([{ refusal }, { refusal }, { refusal }])
    expect(saved()).toBe(0)
    expect(await admit([PNG, PNG])).toMatchObject([{ ref: {} }, { ref: {} }])
  })

  it('by their bytes together are all refused', async () => {
    const { admit, saved } = await store({ attachments: { maxMessageImageBytes: 2 * PNG_BYTES - 1 } })
    const refusal = `the attachment store takes at most ${2 * PNG_BYTES - 1} bytes of images at once, and these are ${2 * PNG_BYTES}`
    expect(await admit([PNG, PNG])).toEqual([{ refusal }, { refusal }])
    expect(saved()).toBe(0)
  })
})

describe('a store that fails', () => {
  it('leaves the images out, and its operator is told', async () => {
    const { admit, ctx, logs } = await store()
    vi.spyOn(ctx.attachments, 'saveImage').mockRejectedValue(new Error('disk full'))
    expect(await admit([PNG])).toEqual([{ refusal: 'the attachment store failed' }])
    const [warning] = logs.find({ level: 'warn' })
    expect(warning?.text).toContain('the attachment store did not take 1 images of a tool result')
    expect(warning?.text).toContain('disk full')
    expect(warning?.text).not.toContain(png)
  })

  it('in a way that nobody knows is not the fault of an image', async () => {
    const { admit, ctx } = await store()
    const unknown = Object.assign(new Error('?'), { code: 'SOMETHING_NEW' })
    vi.spyOn(ctx.attachments, 'validateImage').mockRejectedValue(unknown)
    expect(await admit([PNG])).toEqual([{ refusal: 'the attachment store failed' }])
  })

  it('over an image that is too large after all says so', async () => {
    const { admit, ctx } = await store()
    const tooLarge = Object.assign(new Error('too large'), { code: 'IMAGE_TOO_LARGE' })
    vi.spyOn(ctx.attachments, 'validateImage').mockRejectedValue(tooLarge)
    expect(await admit([PNG])).toEqual([
      { refusal: 'the attachment store takes at most 3670016 bytes an image' },
    ])
  })
})
