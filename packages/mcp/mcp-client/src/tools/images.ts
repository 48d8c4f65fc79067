/**
 * Takes the images of one result into the host's attachment store, so that they can stand in the conversation.
 *
 * Invariants: all images of a result are taken or none is, and none is saved before all are checked; whatever is
 * not taken has a reason that a model can read; nothing here throws for what a server sent.
 */
import type { Context } from '@deepseek-ai/cordis'
import type {
  ImageAdmissionErrorCode,
  ImageAttachmentRef,
  SaveImageAttachment,
} from '@deepseek-ai/dsh-attachment'
import type AttachmentStore from '@deepseek-ai/dsh-attachment'
import type { ToolExecution } from '@deepseek-ai/dsh-tools'
import type { ImageContent } from '@modelcontextprotocol/client'
import { decodeCanonical, decodedBytes } from './base64.ts'
import { modelObstacle } from './routes.ts'

/** What became of one image: its reference in the store, or why it is not shown. */
export type ImageOutcome = { readonly ref: ImageAttachmentRef } | { readonly refusal: string }

/** Declared types that are not registered, but common, by what they mean. */
const ALIASES: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg' }

const CANCELLED = 'the call was cancelled'
const OTHER_REFUSED = 'another image of this result was refused'

/**
 * Take the images of a result, as one batch.
 *
 * @param ctx - where the attachment store and the model service are looked up; both are optional.
 * @param exec - the call: its agent, whose model has to take images, and its cancellation.
 * @returns one outcome for each image, in order.
 */
export async function admitImages(
  ctx: Context,
  exec: Pick<ToolExecution, 'agent' | 'signal'>,
  images: readonly ImageContent[],
): Promise<readonly ImageOutcome[]> {
  if (images.length === 0) return []
  const refuseAll = (refusal: string) => images.map(() => ({ refusal }))
  const store = ctx.get('attachments')
  if (store === undefined) return refuseAll('no attachment store is available')
  const obstacle = await modelObstacle(ctx, exec)
  if (exec.signal.aborted) return refuseAll(CANCELLED)
  if (obstacle !== undefined) return refuseAll(obstacle)
  const excess = batchExcess(store, images)
  if (excess !== undefined) return refuseAll(excess)

  const inputs: SaveImageAttachment[] = []
  const refusals: (string | undefined)[] = []
  for (const image of images) {
    const read = await readImage(store, image)
    refusals.push(typeof read === 'string' ? read : undefined)
    if (typeof read !== 'string') inputs.push(read)
  }
  if (exec.signal.aborted) return refuseAll(CANCELLED)
  if (inputs.length < images.length) return refusals.map((refusal = OTHER_REFUSED) => ({ refusal }))
  try {
    const refs = await store.saveImages(inputs)
    return refs.map((ref) => ({ ref }))
  } catch (error) {
    const reasons = await Promise.all(inputs.map((input) => refusalOf(store, input)))
    if (reasons.some((reason) => reason !== undefined)) {
      return reasons.map((refusal = OTHER_REFUSED) => ({ refusal }))
    }
    ctx.logger.warn('the attachment store did not take %d images of a tool result: %s', images.length, error)
    return refuseAll('the attachment store failed')
  }
}

/** Why the images are too much for one batch. */
function batchExcess(store: AttachmentStore, images: readonly ImageContent[]): string | undefined {
  const { maxImagesPerMessage, maxMessageImageBytes } = store.imageLimits
  if (images.length > maxImagesPerMessage) {
    return `the attachment store takes at most ${maxImagesPerMessage} images at once, and these are ${images.length}`
  }
  const bytes = images.reduce((sum, image) => sum + decodedBytes(image.data), 0)
  if (bytes > maxMessageImageBytes) {
    return `the attachment store takes at most ${maxMessageImageBytes} bytes of images at once, and these are ${bytes}`
  }
  return undefined
}

/** An image as the store takes it, or why it would not. */
async function readImage(store: AttachmentStore, image: ImageContent): Promise<SaveImageAttachment | string> {
  const { mediaTypes, maxImageBytes } = store.imageLimits
  const declared = image.mimeType.toLowerCase()
  const mediaType = mediaTypes.find((type) => type === (ALIASES[declared] ?? declared))
  if (mediaType === undefined) return `only ${mediaTypes.join(', ')} can be shown`
  if (decodedBytes(image.data) > maxImageBytes)
    return `the attachment store takes at most ${maxImageBytes} bytes an image`
  const data = await decodeCanonical(image.data)
  return data === undefined ? 'its data is not canonical base64' : { data, mediaType }
}

/** Why the store refuses one image, in words for the model; `undefined` when it does not. */
async function refusalOf(store: AttachmentStore, input: SaveImageAttachment): Promise<string | undefined> {
  const { maxImageBytes, maxImagePixels, maxImageDimension } = store.imageLimits
  try {
    await store.validateImage(input)
    return undefined
  } catch (error) {
    const reasons: Partial<Record<ImageAdmissionErrorCode, string>> = {
      INVALID_IMAGE: 'its data is not a readable image',
      IMAGE_TYPE_MISMATCH: 'its data is not of the declared type',
      IMAGE_TOO_LARGE: `the attachment store takes at most ${maxImageBytes} bytes an image`,
      IMAGE_TOO_MANY_PIXELS: `the attachment store takes at most ${maxImagePixels} pixels an image`,
      IMAGE_DIMENSION_TOO_LARGE: `the attachment store takes at most ${maxImageDimension} pixels a side`,
    }
    return reasons[(error as { code?: ImageAdmissionErrorCode }).code!]
  }
}
