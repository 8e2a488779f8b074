package table

import (
	"fmt"
	"time"
)

// Age says a duration as people do: 45s, 5m, 2h10m, 3d. What lies ahead is 0s.
func Age(d time.Duration) string {
	d = max(d, 0)
	switch minutes, hours := int(d.Minutes()), int(d.Hours()); {
	case minutes < 1:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case hours < 1:
		return fmt.Sprintf("%dm", minutes)
	case hours < 24:
		return joined(hours, "h", minutes%60, "m")
	case hours < 72:
		return joined(hours/24, "d", hours%24, "h")
	default:
		return fmt.Sprintf("%dd", hours/24)
	}
}

func joined(n int, unit string, m int, smaller string) string {
	if m == 0 {
		return fmt.Sprintf("%d%s", n, unit)
	}
	return fmt.Sprintf("%d%s%d%s", n, unit, m, smaller)
}
