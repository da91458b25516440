import type { Meter } from '../../core/limits/meter.ts'
import type { LimitRefusal, MeterStatus, Verdict } from '../ledger.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { ADMITTED, REFUSED, UNAVAILABLE } from './operations.ts'

export function writeVerdict(call: number, verdict: Verdict, writer: ByteWriter): void {
  if (verdict.isAdmitted) {
    writer.uint8(ADMITTED)
    writer.uint32(call)
    return writeStatuses(verdict.statuses, writer)
  }
  if ('refusal' in verdict) {
    const { meter, settled, reserved, resetAt, wanted, retryAt } = verdict.refusal
    writer.uint8(REFUSED)
    writer.uint32(call)
    // Two meters of one request never share a key.
    writer.text(meter.key)
    writer.double(settled)
    writer.double(reserved)
    writer.double(resetAt)
    writer.double(wanted)
    writer.double(retryAt)
    return
  }
  writer.uint8(UNAVAILABLE)
  writer.uint32(call)
  writer.text(verdict.unavailable)
}

/** Reads a refusal by one of these meters. */
export function readRefusal(meters: readonly Meter[], reader: ByteReader): LimitRefusal {
  const key = reader.text()
  const meter = meters.find(meter => meter.key === key)
  if (meter === undefined) throw new Error('a refusal by a meter that the request does not have')
  return {
    meter,
    settled: reader.double(),
    reserved: reader.double(),
    resetAt: reader.doubleOrNull(),
    wanted: reader.double(),
    retryAt: reader.doubleOrNull(),
  }
}

export function writeStatuses(statuses: readonly MeterStatus[], writer: ByteWriter): void {
  writer.uint32(statuses.length)
  for (let index = 0; index < statuses.length; index++) {
    const { settled, reserved, resetAt } = statuses[index] as MeterStatus
    writer.double(settled)
    writer.double(reserved)
    writer.double(resetAt)
  }
}

/** Reads the statuses of these meters, in order. */
export function readStatuses(meters: readonly Meter[], reader: ByteReader): MeterStatus[] {
  const count = reader.uint32()
  if (count !== meters.length) throw new Error(`${count} statuses of ${meters.length} meters`)
  const statuses: MeterStatus[] = []
  for (let index = 0; index < count; index++) {
    const meter = meters[index] as Meter
    const settled = reader.double()
    const reserved = reader.double()
    statuses.push({ meter, settled, reserved, resetAt: reader.doubleOrNull() })
  }
  return statuses
}
