import { useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { SelectField, TextAreaField, TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { type DeviceAuth, deviceAuthQuery, toLines } from './client-auth-calls.ts'

/** Configures the apps whose devices get tokens without a sign-in. */
export function DeviceDialog({ current, onClose }: { current: DeviceAuth | null; onClose: () => void }) {
  const { project } = useEnvironment()
  const client = useQueryClient()
  const form = useForm(
    data =>
      unwrap(
        api.PUT('/v1/projects/{projectId}/device-auth', {
          params: { path: { projectId: project.id } },
          body: toBody(data, current),
        }),
      ),
    stored => {
      client.setQueryData(deviceAuthQuery(project.id).queryKey, stored)
      onClose()
    },
  )
  return (
    <Dialog title="Devices" variant="drawer" onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p className="muted">
          A genuine device that runs your app gets a token without a sign-in. Leave a platform empty if you do
          not support it.
        </p>
        <AppFields current={current} problemOf={form.problemOf} />
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface AppFieldsProps {
  readonly current: DeviceAuth | null
  readonly problemOf: (name: string) => string | undefined
}

function AppFields({ current, problemOf }: AppFieldsProps) {
  return (
    <>
      <h3>iOS</h3>
      <TextField
        label="Team id"
        name="ios.team_id"
        isOptional
        maxLength={10}
        defaultValue={current?.ios?.team_id}
        hint="10 characters, under Membership at developer.apple.com."
        problem={problemOf('ios.team_id')}
      />
      <TextAreaField
        label="Bundle ids"
        name="ios.bundle_ids"
        isOptional
        rows={2}
        defaultValue={current?.ios?.bundle_ids.join('\n')}
        problem={problemOf('ios.bundle_ids')}
      />
      <SelectField
        label="App Attest environment"
        name="ios.environment"
        defaultValue={current?.ios?.environment ?? 'production'}
        hint="Builds from Xcode attest for development."
      >
        <option value="production">Production</option>
        <option value="development">Development</option>
      </SelectField>
      <h3>Android</h3>
      <TextAreaField
        label="Package names"
        name="android.package_names"
        isOptional
        rows={2}
        defaultValue={current?.android?.package_names.join('\n')}
        problem={problemOf('android.package_names')}
      />
      <TextAreaField
        label="SHA-256 of the signing certificates"
        name="android.signing_digests"
        isOptional
        rows={2}
        defaultValue={current?.android?.signing_digests.join('\n')}
        hint="Under App signing in the Play console."
        problem={problemOf('android.signing_digests')}
      />
    </>
  )
}

/** Returns the body of the call. A platform whose fields are all empty is left out. */
function toBody(data: FormData, current: DeviceAuth | null) {
  const teamId = textOf(data, 'ios.team_id')
  const bundleIds = toLines(textOf(data, 'ios.bundle_ids'))
  const packageNames = toLines(textOf(data, 'android.package_names'))
  const digests = toLines(textOf(data, 'android.signing_digests'))
  const environment = textOf(data, 'ios.environment') === 'development' ? 'development' : 'production'
  const check = current?.ios?.device_check
  const ios = {
    team_id: teamId,
    bundle_ids: bundleIds,
    environment,
    // Without the private key in the body, the stored one is kept.
    ...(check == null ? {} : { device_check: { key_id: check.key_id } }),
  } as const
  const android = { package_names: packageNames, signing_digests: digests }
  return {
    ...(teamId === '' && bundleIds.length === 0 ? {} : { ios }),
    ...(packageNames.length === 0 && digests.length === 0 ? {} : { android }),
  }
}
