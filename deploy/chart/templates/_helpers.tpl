{{- define "wedflow.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "wedflow.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "wedflow.labels" -}}
{{ include "wedflow.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "wedflow.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
{{- end -}}

{{- /* Address of the database, from its secret. */ -}}
{{- define "wedflow.database" -}}
{{- $missing := "database.existingSecret is missing: name the secret with the database's address" }}
- name: {{ ternary "WEDFLOW_DIRECTORY" "DATABASE_URL" .Values.database.isDirectory }}
  valueFrom:
    secretKeyRef:
      name: {{ required $missing .Values.database.existingSecret }}
      key: {{ .Values.database.key }}
{{- end -}}

{{- /* Account of the pods: the image's own. */ -}}
{{- define "wedflow.account" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "wedflow.rights" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
{{- end -}}
