function control(read, write)
  write("left_drive.effort", read("gain")
end
