// The oracle: @cloud-copilot/iam-simulate decides cases, one JSON object a line on standard input, and answers with
// a decision a line, or what it says is wrong with the case.
import { createInterface } from 'node:readline'
import { anonymousPrincipal, runSimulation } from '@cloud-copilot/iam-simulate'

const names = { Allowed: 'allow', ImplicitlyDenied: 'implicitDeny', ExplicitlyDenied: 'explicitDeny' }
const list = value => (value === undefined ? [] : Array.isArray(value) ? value : [value])

// It takes all keys from its caller, also those that follow from the principal.
function implied(principal, account) {
  const arn = principal.split(':')
  if (principal === 'anonymous') return { 'aws:PrincipalType': 'Anonymous', 'aws:PrincipalIsAWSService': 'false', 'aws:ResourceAccount': account }
  if (arn.length < 6) return { 'aws:PrincipalIsAWSService': 'true', 'aws:PrincipalServiceName': principal, 'aws:ResourceAccount': account }
  const [kind, name] = arn[5].split('/')
  const types = { root: 'Account', user: 'User', 'assumed-role': 'AssumedRole', 'federated-user': 'FederatedUser' }
  return {
    'aws:PrincipalArn': kind === 'assumed-role' ? `arn:aws:iam::${arn[4]}:role/${name}` : principal,
    'aws:PrincipalAccount': arn[4],
    'aws:PrincipalType': types[kind],
    'aws:PrincipalIsAWSService': 'false',
    'aws:ResourceAccount': account,
    ...(kind === 'user' ? { 'aws:username': arn[5].split('/').at(-1) } : {})
  }
}

function simulation(one) {
  const account = one.account ?? (one.resource.split(':')[4] || one.principal.split(':')[4])
  const session = list(one.session)
  return {
    request: {
      principal: one.principal === 'anonymous' ? anonymousPrincipal : one.principal,
      action: one.action,
      resource: { resource: one.resource, accountId: account },
      contextVariables: { ...implied(one.principal, account), ...one.context }
    },
    identityPolicies: list(one.identity).map((policy, i) => ({ name: `identity ${i}`, policy })),
    permissionBoundaryPolicies: one.boundary && [{ name: 'boundary', policy: one.boundary }],
    sessionPolicy: session[0],
    resourcePolicy: one.resourcePolicy,
    serviceControlPolicies: [],
    resourceControlPolicies: []
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const result = await runSimulation(simulation(JSON.parse(line)), {})
  const ignored = result.result?.ignoredContextKeys ?? []
  if (result.resultType === 'error') console.log('error ' + JSON.stringify(result.errors))
  else console.log(ignored.length > 0 ? 'error ignored ' + ignored : names[result.overallResult])
}
