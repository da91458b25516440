import { defineProjectTable } from '../project-table.ts'

export const {
  find: findDeviceAuth,
  upsert: upsertDeviceAuth,
  remove: removeDeviceAuth,
} = defineProjectTable('device_auth')
