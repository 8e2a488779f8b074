package localized

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestEnglish(t *testing.T) {
	for text, want := range map[string]string{
		"FEHLER:  Datenbank nimmt keine Befehle an, um Datenverlust wegen Transaktionsnummernüberlauf in Datenbank »fleet« zu vermeiden": `database is not accepting commands to avoid wraparound data loss in database "fleet"`,
		"FATAL:  désolé, trop de clients sont déjà connectés":                                                                            "sorry, too many clients already",
		"ОШИБКА:  отношение \"nodes\" не существует":                                                                                     `relation "nodes" does not exist`,
		"write /var/lib/maas/image: Auf dem Gerät ist kein Speicherplatz mehr verfügbar":                                                 "no space left on device",
		"connect 10.0.0.4:5432: Connexion refusée":                                                                                       "connection refused",
		"致命错误:  数据库系统启动中":                                                                                                                "the database system is starting up",
		"FATAL:  la autentificación password falló para el usuario «fleet»":                                                              `password authentication failed for user "fleet"`,
		"could not connect: connection refused; no space left on device":                                                                 "",
		"GET /v1/allocations 200 21ms":                                                                                                   "",
		"":                                                                                                                               "",
		"Verbindungsaufbau abgelehnt\nFEHLER:  Relation »nodes« existiert nicht":                                                         "connection refused\nrelation \"nodes\" does not exist",
		"Serverprozess (PID 311) wurde von Signal 9 beendet: Getötet":                                                                    "serverprozess (pid 311) was terminated by signal 9: getötet",
		"Relation »" + strings.Repeat("x", 300) + "« existiert nicht":                                                                    "",
		"Aucun fichier ou dossier de ce type: /srv/images/ubuntu.img":                                                                    "no such file or directory",
	} {
		if got := English(strings.ToLower(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// What is English already is no translation of something else: none of the messages is found in its own English.
func TestEnglishIsLeftAlone(t *testing.T) {
	for line := range strings.Lines(table) {
		english, _, _ := strings.Cut(line, "\t")
		if got := English(strings.ToLower(english)); got != "" {
			t.Errorf("%q is taken for %q", english, got)
		}
	}
}

func FuzzEnglish(f *testing.F) {
	f.Add("fehler:  relation »nodes« existiert nicht")
	f.Add("désolé, trop de clients sont déjà connectés")
	f.Add("(pid ) wurde von signal  beendet: ")
	f.Fuzz(func(t *testing.T, text string) {
		if got := English(text); len(got) > 100*(len(text)+100) {
			t.Errorf("%d bytes become %d", len(text), len(got))
		}
	})
}

// The table is what the program makes of the catalogues, where they are installed, but for what a version of them mended.
func TestTheTableIsMadeOfTheCatalogues(t *testing.T) {
	for _, name := range []string{"postgres-15.mo", "libc.mo"} {
		if found, _ := filepath.Glob("/usr/share/locale/*/LC_MESSAGES/" + name); len(found) == 0 {
			t.Skipf("NOT TESTED: %s is not installed (packages postgresql-15 and libc-l10n)", name)
		}
	}
	out := filepath.Join(t.TempDir(), "messages.tsv")
	made := exec.Command("go", "run", ".", "-o", out)
	made.Dir = "../../tools/localize"
	if said, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	// Translators mend their words between two versions of a package: a few lines may differ, and are told.
	known, differ := map[string]bool{}, 0
	for line := range strings.Lines(table) {
		known[line] = true
	}
	for line := range strings.Lines(string(got)) {
		if !known[line] {
			differ++
			t.Logf("another version of the catalogues says %q", line)
		}
	}
	if most := len(known) / 50; differ > most {
		t.Errorf("%d of %d lines are not what the catalogues say: go generate ./internal/localized", differ, len(known))
	}
}
