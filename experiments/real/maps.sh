#!/bin/sh
# Maps side by side: mean and standard deviation of the Mediterranean's dynamic topography by blend, networks and process, at two
# dates; layers, epochs and batch are what drift chooses for the blend. Usage: DATA=... sh maps.sh OUT.png, with drift and gmt on the path; models that are there are taken as they are.
set -e
out=$1
for method in blend network process; do
  model=med_$method.safetensors
  [ -e $model ] || drift fit "$DATA/med_alongtrack/med_adt_20140515_20140604.csv" --value adt --method $method --layers 2 --epochs 8 --batch 128 --out $model
  for day in 2014-05-20 2014-05-30; do
    name=med_${method}_$day
    drift predict $model --grid bbox:-5,30,36.5,45.5:0.125 --time $day --mask ocean --out $name.nc --quiet
    drift plot $name.nc --title "$method, $day" --limits=-0.25:0.25 --sd-limits 0:0.06 --width 20 --dpi 150 --out $name.png --quiet
  done
done
gmt begin "${out%.png}" png E90
  gmt subplot begin 3x2 -Fs20c/6.6c -M0.1c
  for method in blend network process; do
    for day in 2014-05-20 2014-05-30; do
      gmt subplot set
      gmt image med_${method}_$day.png -Dx0/0+w20c
    done
  done
  gmt subplot end
gmt end
