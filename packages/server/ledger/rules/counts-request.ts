import type { Meter, MeterSubject } from '../../core/limits/meter.ts'

/** Returns true if a meter counts the requests of this subject that arrived at this instant. */
export function countsRequest(meter: Meter, subject: MeterSubject, arrivedAt: number): boolean {
  const counted = meter.subject
  return (
    arrivedAt >= meter.since &&
    (meter.kind !== 'fixed' || meter.end === null || arrivedAt < meter.end) &&
    counted.orgId === subject.orgId &&
    (counted.projectId === null || counted.projectId === subject.projectId) &&
    (counted.environmentId === null || counted.environmentId === subject.environmentId) &&
    (counted.keyId === null || counted.keyId === subject.keyId) &&
    (counted.endUserId === null || counted.endUserId === subject.endUserId)
  )
}
