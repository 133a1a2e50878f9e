// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// podSpec is what the restricted pod security standard looks at
// (kubernetes.io/docs/concepts/security/pod-security-standards), and the rest
// of what our manifests use; a field that is not here fails the test.
type podSpec struct {
	AutomountServiceAccountToken  *bool            `yaml:"automountServiceAccountToken"`
	EnableServiceLinks            *bool            `yaml:"enableServiceLinks"`
	TerminationGracePeriodSeconds int              `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               securityContext  `yaml:"securityContext"`
	InitContainers                []container      `yaml:"initContainers"`
	Containers                    []container      `yaml:"containers"`
	Volumes                       []map[string]any `yaml:"volumes"`
}

type securityContext struct {
	RunAsNonRoot             bool  `yaml:"runAsNonRoot"`
	RunAsUser                int   `yaml:"runAsUser"`
	RunAsGroup               int   `yaml:"runAsGroup"`
	FSGroup                  int   `yaml:"fsGroup"`
	AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
	ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
	Capabilities             struct {
		Drop []string `yaml:"drop"`
		Add  []string `yaml:"add"`
	} `yaml:"capabilities"`
	SeccompProfile struct {
		Type             string `yaml:"type"`
		LocalhostProfile string `yaml:"localhostProfile"`
	} `yaml:"seccompProfile"`
}

type container struct {
	Name            string          `yaml:"name"`
	Image           string          `yaml:"image"`
	Command         []string        `yaml:"command"`
	Args            []string        `yaml:"args"`
	Ports           []containerPort `yaml:"ports"`
	LivenessProbe   *probe          `yaml:"livenessProbe"`
	ReadinessProbe  *probe          `yaml:"readinessProbe"`
	StartupProbe    *probe          `yaml:"startupProbe"`
	SecurityContext securityContext `yaml:"securityContext"`
	Resources       map[string]any  `yaml:"resources"`
	VolumeMounts    []volumeMount   `yaml:"volumeMounts"`
}

// containerPort has no hostPort.
type containerPort struct {
	Name          string `yaml:"name"`
	ContainerPort int    `yaml:"containerPort"`
}

type volumeMount struct {
	Name      string `yaml:"name"`
	MountPath string `yaml:"mountPath"`
	ReadOnly  bool   `yaml:"readOnly"`
}

type probe struct {
	HTTPGet struct {
		Path   string `yaml:"path"`
		Port   string `yaml:"port"`
		Scheme string `yaml:"scheme"`
	} `yaml:"httpGet"`
	PeriodSeconds    int `yaml:"periodSeconds"`
	TimeoutSeconds   int `yaml:"timeoutSeconds"`
	FailureThreshold int `yaml:"failureThreshold"`
}

type manifest struct {
	APIVersion string         `yaml:"apiVersion"`
	Kind       string         `yaml:"kind"`
	Metadata   map[string]any `yaml:"metadata"`
	Data       map[string]any `yaml:"data"`
	Spec       yaml.Node      `yaml:"spec"`
}

func manifests(t *testing.T) map[string]manifest {
	t.Helper()
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%q %v", files, err)
	}
	found := map[string]manifest{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := yaml.NewDecoder(bytes.NewReader(b))
		d.KnownFields(true)
		for {
			var m manifest
			err := d.Decode(&m)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			name, _ := m.Metadata["name"].(string)
			if m.APIVersion == "" || name == "" {
				t.Errorf("%s: no version or name", file)
			}
			found[m.Kind+"/"+name] = m
		}
	}
	return found
}

func TestManifests(t *testing.T) {
	all := manifests(t)
	var spec struct {
		Replicas           int            `yaml:"replicas"`
		Strategy, Selector map[string]any `yaml:",omitempty"`
		Template           struct {
			Metadata map[string]any `yaml:"metadata"`
			Spec     podSpec        `yaml:"spec"`
		} `yaml:"template"`
	}
	m := all["Deployment/ambit"]
	b, err := yaml.Marshal(&m.Spec)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&spec); err != nil {
		t.Fatal(err)
	}
	p := spec.Template.Spec
	if s := p.SecurityContext; !s.RunAsNonRoot || s.RunAsUser < 1 || s.SeccompProfile.Type != "Localhost" || s.SeccompProfile.LocalhostProfile != "ambit.json" {
		t.Errorf("the pod: %+v", s)
	}
	if p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken {
		t.Error("the pod gets a token of the cluster")
	}
	if len(p.Containers) != 1 || len(p.InitContainers) != 1 {
		t.Fatalf("%d and %d containers", len(p.Containers), len(p.InitContainers))
	}
	volumes := map[string]bool{}
	for _, v := range p.Volumes {
		for kind := range v {
			if !slices.Contains([]string{"name", "configMap", "secret", "emptyDir", "persistentVolumeClaim"}, kind) {
				t.Errorf("a volume of the kind %s", kind)
			}
		}
		name, _ := v["name"].(string)
		volumes[name] = true
	}
	for _, c := range append(p.Containers, p.InitContainers...) {
		restricted(t, c)
		for _, v := range c.VolumeMounts {
			if !volumes[v.Name] {
				t.Errorf("%s: there is no volume %s", c.Name, v.Name)
			}
		}
	}
	c := p.Containers[0]
	for want, probe := range map[string]*probe{"/livez": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
		if probe == nil || probe.HTTPGet.Path != want || probe.HTTPGet.Port != c.Ports[0].Name || probe.HTTPGet.Scheme != "HTTPS" {
			t.Errorf("%s: %+v", want, probe)
		}
	}
	for _, needed := range []string{"ConfigMap/ambit", "Service/ambit", "PersistentVolumeClaim/ambit-state", "PersistentVolumeClaim/ambit-projects"} {
		if _, ok := all[needed]; !ok {
			t.Errorf("%s is missing", needed)
		}
	}
}

// restricted: what the standard asks of each container.
func restricted(t *testing.T, c container) {
	t.Helper()
	s := c.SecurityContext
	if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || !s.RunAsNonRoot || !s.ReadOnlyRootFilesystem {
		t.Errorf("%s: %+v", c.Name, s)
	}
	if !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) || len(s.Capabilities.Add) > 0 {
		t.Errorf("%s: capabilities %+v", c.Name, s.Capabilities)
	}
}
